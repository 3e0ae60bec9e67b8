// SPDX-License-Identifier: Apache-2.0
// The points of a sweep as files, and all of them together.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/sweep.hpp"

namespace amsp {

// A point's file: its settings with the run's results, or with why it could not run.
std::string sweep_point_json(const SweepPoint& point, const RunResult* result,
                             std::string_view refused);

struct MergedSweep {
  std::string json, csv, table;
  std::size_t points = 0, refused = 0;
  // The fastest that fits on the most GPUs on which one does; none where nothing fits.
  std::optional<std::size_t> best;
};
// Nothing while a point's file is missing.
std::optional<MergedSweep> merge_sweep(const std::vector<SweepPoint>& points);

}  // namespace amsp
