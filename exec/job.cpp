// SPDX-License-Identifier: Apache-2.0
#include "exec/job.hpp"

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/units_text.hpp"

namespace amsp {

std::string_view name_of(ComputeMode mode) { return mode == ComputeMode::real ? "real" : "timed"; }

ComputeMode parse_compute_mode(std::string_view text) {
  if (text == "real") return ComputeMode::real;
  if (text == "timed") return ComputeMode::timed;
  throw InputError(unknown_name("compute mode", text, {"real", "timed"}));
}

namespace {

std::string with_article(std::string_view noun) {
  const bool vowel = std::string_view("aeiou").find(noun.front()) != std::string_view::npos;
  return fmt::format("{} {}", vowel ? "an" : "a", noun);
}

}  // namespace

Seconds duration_of(const ExecJob& job, OpId op) {
  if (!job.durations.empty()) return job.durations[op.position()];
  Seconds total;
  for (const Kernel& kernel : job.schedule.op(op).kernels) total += kernel.duration;
  return total;
}

void check_job(const ExecJob& job) {
  const Schedule& schedule = job.schedule;
  check_schedule(schedule);
  if (!job.durations.empty() && job.durations.size() != schedule.ops.size())
    throw InputError("a table of durations must have one entry for each op of the schedule");
  if (job.options.compute != ComputeMode::timed || !job.durations.empty()) return;
  for (const Op& op : schedule.ops)
    for (const Kernel& kernel : op.kernels)
      if (kernel.kind != KernelClass::fixed)
        throw InputError(fmt::format(
            "schedule \"{}\": op \"{}\" has {} kernel, whose time the schedule does not say; "
            "give --calibration (or a cluster) to time it, or run it with --compute real",
            schedule.name, op.name, with_article(name_of(kernel.kind))));
}

std::string digest_of(const ExecJob& job) {
  std::string text = to_json(job.schedule);
  for (Seconds duration : job.durations) text += to_text(duration) + "\n";
  const ExecOptions& options = job.options;
  text += fmt::format("{} {} {} {} {}", options.backend, name_of(options.compute), options.warmup,
                      options.steps, options.check);
  return sha256(text);
}

}  // namespace amsp
