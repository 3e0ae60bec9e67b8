// SPDX-License-Identifier: Apache-2.0
// How well a fit predicts what it has not seen: leaves out each size, each scale, all scales above
// a given one, and each kind, in turn.
#pragma once
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "calibrate/collective_calibration.hpp"

namespace amsp {

enum class LeftOut { size, scale, scales_above, kind };
std::string_view name_of(
    LeftOut left_out);  // "each size", "each scale", "scales above", "each kind"

struct HeldOutRow {
  Observation row;
  LeftOut left_out = LeftOut::size;
  double scale_ratio = 1;  // scales_above: ranks / the largest fitted scale
  double log_error = 0;    // log(predicted / measured)
  bool covered = false;    // the measured time lies in the 90 % interval
  // The same of the straight line between the row's neighbours (straight_lines.hpp), where both
  // were measured; sizes and scales only.
  std::optional<double> line_log_error;
};

struct ErrorSummary {
  std::size_t rows = 0;
  double median = 0;  // of |predicted / measured - 1|
  double p95 = 0;
  double covered = 0;  // share of rows inside their 90 % interval
};

// Told before the first fit and after each: how many of how many are done.
using ValidationProgress = std::function<void(std::size_t done, std::size_t fits)>;

// A left-out kind is predicted from the physics of the others, where the same domain (inside a
// node, across) was measured of one of them. Sizes and scales at the edge of what was measured
// (inside a node and across, apart) are not left out singly: predicting them is extrapolation,
// which "scales above" judges.
std::vector<HeldOutRow> cross_validate(const std::vector<Observation>& rows,
                                       const ClusterSpec& cluster, const std::vector<LeftOut>& what,
                                       const ValidationProgress& progress = {});

ErrorSummary summarise(const std::vector<HeldOutRow>& rows);
// Of the straight lines; `covered` stays 0.
ErrorSummary summarise_lines(const std::vector<HeldOutRow>& rows);

}  // namespace amsp
