// SPDX-License-Identifier: Apache-2.0
#include "calibrate/calibrate_files.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.hpp"

namespace amsp {

Measurements read_measurements(const std::vector<std::string>& files, const std::string& cluster) {
  Measurements all;
  for (const std::string& file : files) {
    const std::string text = read_file(file);
    CalibrationSource source{std::filesystem::path(file).filename().string(), sha256(text), "", 0};
    if (looks_like_kernel_csv(text)) {
      const auto rows = read_kernel_csv(text, file);
      source.rows_used = static_cast<int>(rows.size());
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
  if (!cluster.empty()) {
    all.cluster = load_cluster(cluster);
    const auto names = data_names("topologies");
    if (std::find(names.begin(), names.end(), cluster) != names.end()) all.cluster_name = cluster;
  } else if (all.runs.empty()) {
    throw InputError("kernel times name no GPU; say which cluster with --cluster");
  } else {
    all.cluster = cluster_of_runs(all.runs);
  }
  all.observations = observations_of(all.runs, all.cluster);
  for (CalibrationSource& source : all.sources) {
    for (const Observation& row : all.observations.rows) {
      if (row.source == source.file) ++source.rows_used;
    }
  }
  return all;
}

Calibration calibrate(const Measurements& measurements) {
  Calibration calibration;
  calibration.description =
      fmt::format("collectives and kernels measured on {}", measurements.cluster.name);
  calibration.cluster = measurements.cluster_name;
  if (calibration.cluster.empty()) calibration.own_cluster = measurements.cluster;
  calibration.sources = measurements.sources;
  calibration.refused = measurements.observations.refused;
  if (!measurements.observations.rows.empty()) {
    calibration.collectives = fit_collectives(measurements.observations.rows, measurements.cluster);
  }
  if (!measurements.kernels.empty()) {
    calibration.kernels = fit_kernels(measurements.kernels, measurements.cluster.node.gpu);
  }
  if (!calibration.collectives && !calibration.kernels) {
    const std::string first = calibration.refused.empty()
                                  ? "the files hold no times"
                                  : calibration.refused.front().file + ": " +
                                        calibration.refused.front().place + ": " +
                                        calibration.refused.front().reason;
    throw InputError("nothing to fit: " + first);
  }
  return calibration;
}

}  // namespace amsp
