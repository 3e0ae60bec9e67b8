// SPDX-License-Identifier: Apache-2.0
#include "scenarios/plan_reason.hpp"

#include <fmt/format.h>

#include <map>

#include "base/units_text.hpp"
#include "scenarios/planner.hpp"

namespace amsp {
namespace {

std::map<std::string, Seconds> parts_of(const RunResult& run) {
  std::map<std::string, Seconds> parts{{"computation", run.step_time - run.exposed.total}};
  for (const auto& [kind, time] : run.exposed.by_collective) parts["exposed " + kind] = time;
  return parts;
}

// What differs in the settings, "OS 8x1 instead of 8x4, micro-batch 2 instead of 1".
std::string differences(const PlanCandidate& a, const PlanCandidate& b) {
  std::string text;
  const auto note = [&text](std::string_view what, const std::string& ours,
                            const std::string& theirs) {
    if (ours != theirs)
      text += fmt::format("{}{} {} instead of {}", text.empty() ? "" : ", ", what, ours, theirs);
  };
  note("P", to_text(a.meshes.parameters), to_text(b.meshes.parameters));
  note("G", to_text(a.meshes.gradients), to_text(b.meshes.gradients));
  note("OS", to_text(a.meshes.optimizer), to_text(b.meshes.optimizer));
  note("micro-batch", std::to_string(a.micro_batch), std::to_string(b.micro_batch));
  note("recompute", std::string(name_of(a.recompute)), std::string(name_of(b.recompute)));
  note("broadcast overlap", a.overlap_broadcast ? "on" : "off", b.overlap_broadcast ? "on" : "off");
  return text;
}

}  // namespace

std::string why_better(const PlannedRun& better, const PlannedRun& worse) {
  auto parts = parts_of(worse.run);
  for (const auto& [name, time] : parts_of(better.run)) parts[name] -= time;
  const std::string* largest = nullptr;
  Seconds saved(0);
  for (const auto& [name, time] : parts)
    if (time > saved) {
      saved = time;
      largest = &name;
    }
  const std::string settings = differences(better.candidate, worse.candidate);
  if (largest == nullptr) return settings + ": no part of the step is shorter by more than others";
  return fmt::format("{}: {} less {}", settings, human(saved), *largest);
}

}  // namespace amsp
