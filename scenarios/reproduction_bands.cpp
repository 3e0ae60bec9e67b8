// SPDX-License-Identifier: Apache-2.0
#include "scenarios/reproduction_bands.hpp"

#include <cmath>
#include <functional>

namespace amsp {
namespace {

using Chosen = std::function<bool(const ReproducedPoint&)>;

ReproducedBand mean_tgs_error(std::string name, double limit,
                              const std::vector<ReproducedPoint>& points, const Chosen& chosen) {
  ReproducedBand band{std::move(name), "mean absolute relative error of TGS", limit, 0, 0};
  double sum = 0;
  for (const ReproducedPoint& point : points)
    if (chosen(point) && point.published_tgs && !point.fitted) {
      sum += std::abs(point.tgs / *point.published_tgs - 1);
      ++band.points;
    }
  if (band.points > 0) band.reached = sum / band.points;
  return band;
}

ReproducedBand largest_mfu_difference(std::string name, double limit,
                                      const std::vector<ReproducedPoint>& points,
                                      const Chosen& chosen) {
  ReproducedBand band{std::move(name), "largest difference in MFU", limit, 0, 0};
  for (const ReproducedPoint& point : points)
    if (chosen(point) && point.published_mfu) {
      band.reached = std::max(band.reached, std::abs(point.mfu - *point.published_mfu));
      ++band.points;
    }
  return band;
}

// At one scale, every pair of systems of one model whose published MFU differ is ordered alike.
ReproducedBand order_of_systems(const std::vector<ReproducedPoint>& points) {
  ReproducedBand band{"order of the systems at each scale", "pairs in the wrong order", 0, 0, 0};
  for (const ReproducedPoint& a : points)
    for (const ReproducedPoint& b : points) {
      const bool comparable = a.published_mfu && b.published_mfu && a.gpus == b.gpus &&
                              a.model == b.model && a.overlap.empty() && b.overlap.empty();
      if (!comparable || a.fitted || b.fitted || *a.published_mfu <= *b.published_mfu) continue;
      ++band.points;
      if (a.mfu <= b.mfu) band.reached += 1;
    }
  return band;
}

}  // namespace

std::vector<ReproducedBand> reproduction_bands(const std::vector<ReproducedPoint>& points) {
  const auto from = [](std::string_view source) {
    return [source](const ReproducedPoint& point) { return point.source == source; };
  };
  const auto baseline = [](const ReproducedPoint& point) {
    return point.source == "text" && point.system != "AMSP";
  };
  return {mean_tgs_error("AMSP, Fig. 12", 0.05, points, from("Fig. 12")),
          mean_tgs_error("overlap ablation, Table V", 0.06, points, from("Table V")),
          largest_mfu_difference("baselines' end points", 0.05, points, baseline),
          order_of_systems(points)};
}

}  // namespace amsp
