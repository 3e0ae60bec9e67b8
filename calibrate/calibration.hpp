// SPDX-License-Identifier: Apache-2.0
// A calibration file (docs/formats/calibration.md): what was measured on a cluster and the models
// fitted to it.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json_value.hpp"
#include "calibrate/collective_calibration.hpp"
#include "calibrate/kernel_calibration.hpp"
#include "topologies/cluster.hpp"

namespace amsp {

struct CalibrationSource {
  std::string file;    // name without folders
  std::string sha256;  // of the text
  std::string note;
  int rows_used = 0;
};

struct RefusedRow {
  std::string file;
  std::string place;
  std::string reason;
};

struct Calibration {
  std::string description;
  std::string cluster;  // shipped name; or empty, and then `own_cluster` is set
  std::optional<ClusterSpec> own_cluster;
  std::vector<CalibrationSource> sources;
  std::vector<RefusedRow> refused;
  std::optional<CollectiveCalibration> collectives;
  std::optional<KernelCalibration> kernels;

  // The cluster that it was made on.
  [[nodiscard]] ClusterSpec made_on() const;
};

// Throws InputError with the place of what is wrong.
Calibration load_calibration(const std::filesystem::path& file);
Calibration parse_calibration(const JsonValue& json);
std::string to_json(const Calibration& calibration);

}  // namespace amsp
