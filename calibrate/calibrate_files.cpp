// SPDX-License-Identifier: Apache-2.0
#include "calibrate/calibrate_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/counted.hpp"
#include "base/file.hpp"
#include "calibrate/contradictions.hpp"
#include "calibrate/nic_line_rate.hpp"
#include "calibrate/plausible_times.hpp"
#include "calibrate/repeated_runs.hpp"
#include "calibrate/source_names.hpp"
#include "calibrate/wrong_runs.hpp"
#include "topologies/gpu_spec.hpp"

namespace amsp {

namespace {

// Reads one file into `all`; a file with the content of an earlier one adds nothing.
void read_one(const std::string& file, Measurements& all) {
  const std::string text = read_file(file);
  CalibrationSource source{file, sha256(text), "", 0};
  for (const CalibrationSource& earlier : all.sources) {
    if (earlier.sha256 != source.sha256) continue;
    all.warnings.push_back(
        fmt::format("{}: the same content as {}; counted once", file, earlier.file));
    return;
  }
  if (looks_like_kernel_csv(text)) {
    const auto rows = read_kernel_csv(text, file);
    source.note = "kernel times";
    all.kernels.insert(all.kernels.end(), rows.begin(), rows.end());
  } else {
    for (MeasuredRun& run : read_logs(file)) {
      if (source.note.empty()) source.note = run.format;
      all.runs.push_back(std::move(run));
    }
  }
  all.sources.push_back(std::move(source));
}

std::string files_of(const std::vector<CalibrationSource>& sources) {
  std::string names;
  for (const CalibrationSource& source : sources)
    names += (names.empty() ? "" : ", ") + source.file;
  return names;
}

// Rows that the GPU cannot have are refused; a table of which most are is wrong as a whole.
void refuse_implausible_kernels(Measurements& all) {
  const std::size_t rows = all.kernels.size(), refused = all.observations.refused.size();
  std::erase_if(all.kernels, [&](const KernelTime& row) {
    const auto reason = implausible(row, all.cluster.node.gpu);
    if (reason) all.observations.refused.push_back({row.source, row.place, *reason});
    return reason.has_value();
  });
  if (const std::size_t impossible = rows - all.kernels.size(); 2 * impossible > rows) {
    const RefusedRow& first = all.observations.refused[refused];
    throw InputError({first.file, first.place}, fmt::format("{} (so are {} of {} kernel times)",
                                                            first.reason, impossible, rows));
  }
  if (const auto slow = slow_kernels(all.kernels, all.cluster.node.gpu))
    all.warnings.push_back(*slow);
}

void count_rows(Measurements& all) {
  for (CalibrationSource& source : all.sources) {
    for (const Observation& row : all.observations.rows) {
      if (row.source == source.file) ++source.rows_used;
    }
    for (const KernelTime& row : all.kernels) {
      if (row.source == source.file) ++source.rows_used;
    }
  }
}

// From here on files go by their short names: a calibration names no folders of the machine that it
// was made on, unless two files differ in nothing else.
void shorten_names(Measurements& all) {
  std::vector<std::string> paths;
  for (const CalibrationSource& source : all.sources) paths.push_back(source.file);
  const auto names = source_names(paths);
  for (CalibrationSource& source : all.sources) source.file = names.at(source.file);
  for (KernelTime& row : all.kernels) row.source = names.at(row.source);
  for (Observation& row : all.observations.rows) row.source = names.at(row.source);
  for (RefusedRow& row : all.observations.refused) row.file = names.at(row.file);
}

}  // namespace

std::vector<std::string> other_machine(const std::vector<MeasuredRun>& runs,
                                       const ClusterSpec& cluster) {
  std::vector<std::string> warnings;
  std::set<std::string> told;
  for (const MeasuredRun& run : runs) {
    if (!run.gpu.empty() && told.insert(run.file + "|" + run.gpu).second) {
      std::string type = run.gpu;
      try {
        type = find_gpu_type(run.gpu).spec.name;
      } catch (const InputError&) {
        type += " (not in the catalogue)";
      }
      if (type != cluster.node.gpu.name)
        warnings.push_back(fmt::format("{}: measured on {}, but the GPUs of {} are {}", run.file,
                                       type, cluster.name, cluster.node.gpu.name));
    }
    if (run.nranks.value_or(0) > cluster.gpus() && told.insert(run.file).second)
      warnings.push_back(fmt::format(
          "{}: measured on {}, but {} has {}; taken as if "
          "it had more such nodes",
          run.file, counted(*run.nranks, "rank"), cluster.name, counted(cluster.gpus(), "GPU")));
  }
  return warnings;
}

void refuse_failed(const std::vector<MeasuredRun>& runs) {
  const MeasuredRun* failed = nullptr;
  for (const MeasuredRun& run : runs) {
    if (!run.rows.empty() || !run.refused.empty()) return;
    if (failed == nullptr && !run.failure.empty()) failed = &run;
  }
  if (failed != nullptr)
    throw InputError({failed->file, ""}, "no times: the test failed: " + failed->failure);
}

void refuse_wrong(const std::vector<MeasuredRun>& runs) {
  for (const MeasuredRun& run : runs)
    if (const auto wrong = wrong_as_a_whole(run))
      throw InputError({run.file, fmt::format("lines {} to {}", run.first_line, run.last_line)},
                       *wrong);
}

Measurements read_measurements(const std::vector<std::string>& files, const std::string& cluster) {
  Measurements all;
  for (const std::string& file : files) read_one(file, all);
  if (all.kernels.empty()) refuse_failed(all.runs);
  for (std::string& note : drop_repeated(all.runs)) all.warnings.push_back(std::move(note));
  if (!cluster.empty()) {
    all.cluster = load_cluster(cluster);
    const auto names = data_names("topologies");
    if (std::find(names.begin(), names.end(), cluster) != names.end()) all.cluster_name = cluster;
    for (std::string& warning : other_machine(all.runs, all.cluster))
      all.warnings.push_back(std::move(warning));
  } else if (all.runs.empty()) {
    throw InputError({files.front(), ""},
                     "kernel times name no GPU; say which cluster with --cluster");
  } else {
    all.cluster = cluster_of_runs(all.runs);
    std::string guess = guessed_nic_rate(all.cluster);
    if (!guess.empty()) all.warnings.push_back(std::move(guess));
  }
  all.observations = observations_of(all.runs, all.cluster);
  if (all.observations.rows.empty() && all.kernels.empty()) refuse_wrong(all.runs);
  refuse_implausible_kernels(all);
  shorten_names(all);
  settle_contradictions(all.observations);
  all.warnings.insert(all.warnings.end(), all.observations.warnings.begin(),
                      all.observations.warnings.end());
  count_rows(all);
  return all;
}

Calibration calibrate(const Measurements& measurements, const FitPart& part) {
  Calibration calibration;
  calibration.description =
      fmt::format("collectives and kernels measured on {}", measurements.cluster.name);
  calibration.cluster = measurements.cluster_name;
  if (calibration.cluster.empty()) {
    calibration.own_cluster = measurements.cluster;
    calibration.own_cluster->calibration.clear();  // not the one that is being made
  }
  calibration.sources = measurements.sources;
  calibration.refused = measurements.observations.refused;
  if (!measurements.observations.rows.empty()) {
    calibration.collectives =
        fit_collectives(measurements.observations.rows, measurements.cluster, {.part = part});
  }
  if (!measurements.kernels.empty()) {
    if (part) part("kernels");
    calibration.kernels = fit_kernels(measurements.kernels, measurements.cluster.node.gpu);
  }
  if (!calibration.collectives && !calibration.kernels) {
    if (calibration.refused.empty())
      throw InputError({files_of(calibration.sources), ""}, "nothing to fit: no times");
    const RefusedRow& first = calibration.refused.front();
    throw InputError(
        {first.file, first.place},
        fmt::format("nothing to fit: {}{}", first.reason,
                    calibration.refused.size() > 1
                        ? fmt::format(" ({} more are refused)", calibration.refused.size() - 1)
                        : ""));
  }
  try {
    parse_calibration(JsonValue::parse_text(to_json(calibration), "fit"));
  } catch (const InputError& error) {
    if (!measurements.warnings.empty())
      throw InputError("the fit to these times is far from any machine: " +
                       measurements.warnings.front());
    throw InputError({files_of(calibration.sources), ""},
                     fmt::format("the fit to these times is far from any machine ({}); are the "
                                 "times in their unit (s, ms or us), and all of one cluster?",
                                 error.what()));
  }
  return calibration;
}

}  // namespace amsp
