// SPDX-License-Identifier: Apache-2.0
#include "calibrate/measured_extent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/counted.hpp"

namespace amsp {
namespace {

// What was measured of one kind in one domain (inside a node, or across).
struct Extent {
  std::set<int> ranks;
  double least_bytes = HUGE_VAL, most_bytes = 0;
  bool same_node = false;  // some row has this number of ranks per node and NICs
};

Extent extent_of(const KindFit& fit, const GroupShape& shape, const Hardware& hardware) {
  Extent extent;
  for (const Observation& row : fit.rows) {
    if (correction_domain(row.shape) != correction_domain(shape)) continue;
    extent.ranks.insert(row.shape.ranks);
    extent.least_bytes = std::min(extent.least_bytes, row.bytes.value());
    extent.most_bytes = std::max(extent.most_bytes, row.bytes.value());
    const bool across = shape.nodes > 1;
    const bool same = row.shape.ranks_per_node == shape.ranks_per_node &&
                      nics_used(row.shape, hardware) == nics_used(shape, hardware);
    extent.same_node = extent.same_node || !across || same;
  }
  return extent;
}

// How far a value lies outside [low, high], as a factor >= 1.
double beyond(double low, double value, double high) {
  return std::max({1.0, value / high, low / value});
}

// Measured scales further apart than this say little of those between: the physics' choices and
// contention switch in between, as beyond the greatest.
constexpr double widest_gap = 4;

struct Gap {
  int below = 0, above = 0;
  double octaves = 0;  // to the nearer of both
};

Gap gap_of(const std::set<int>& scales, int ranks) {
  const auto above = scales.lower_bound(ranks);
  if (above == scales.end() || above == scales.begin() || *above == ranks) return {};
  const Gap gap{*std::prev(above), *above, 0};
  if (gap.above <= widest_gap * gap.below) return {};
  const double up = std::log2(static_cast<double>(gap.above) / ranks);
  return {gap.below, gap.above, std::min(up, std::log2(static_cast<double>(ranks) / gap.below))};
}

}  // namespace

std::optional<Standing> standing_of(const KindFit& fit, Bytes bytes, const GroupShape& shape,
                                    const Hardware& hardware) {
  const Extent extent = extent_of(fit, shape, hardware);
  if (extent.ranks.empty()) return std::nullopt;
  Standing standing;
  const auto add = [&](const std::string& text, double octaves) {
    standing.range = PredictionRange::extrapolated;
    standing.octaves += octaves;
    standing.note += (standing.note.empty() ? "" : "; ") + text;
  };
  const int least = *extent.ranks.begin(), most = *extent.ranks.rbegin();
  const double ranks = beyond(least, shape.ranks, most);
  const Gap gap = gap_of(extent.ranks, shape.ranks);
  standing.scale_measured = ranks <= 1 && gap.octaves <= 0;
  if (ranks > 1.001) {
    add(fmt::format("{:.3g}x beyond the measured {} to {} ranks", ranks, least, most),
        std::log2(ranks));
  }
  if (gap.octaves > 0) {
    add(fmt::format("between {} and {} ranks, nothing measured", gap.below, gap.above),
        gap.octaves);
  }
  standing.nearest = Bytes(std::clamp(bytes.value(), extent.least_bytes, extent.most_bytes));
  const double size = beyond(extent.least_bytes, bytes.value(), extent.most_bytes);
  if (size > 1.001) {
    add(fmt::format("{:.3g}x beyond the measured sizes", size), 0);
    standing.size_octaves = std::log2(size);
  }
  if (!extent.same_node) {
    add(fmt::format("no group with {} a node on this number of NICs was measured",
                    counted(shape.ranks_per_node, "rank")),
        1.0);
  }
  return standing;
}

}  // namespace amsp
