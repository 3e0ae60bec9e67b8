// SPDX-License-Identifier: Apache-2.0
#include "calibrate/correction_fit.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "calibrate/least_squares.hpp"
#include "calibrate/straight_lines.hpp"

namespace amsp {
namespace {

void choose_correction(KindFit& fit, const Hardware& hardware) {
  double best_score = HUGE_VAL;
  for (const double rotation : {0.0, 1.0}) {
    KindFit trial = fit;
    trial.rotation = rotation;
    const auto points = correction_points(trial, hardware);
    Kriging correction =
        fit_kriging(points, {{0.7, 1.5, 3.0, 6.0}, {0.7, 1.5, 3.0, 6.0}, {1.0, 3.0}, {1.0, 3.0}});
    double score = 0;
    const auto& left_out = correction.leave_one_out();
    for (std::size_t i = 0; i < left_out.size(); ++i) {
      score += fit.trust[i] * size_weight(fit.rows[i].bytes) * std::abs(left_out[i]);
    }
    if (score < best_score) {
      best_score = score;
      fit.rotation = rotation;
      fit.correction = std::move(correction);
    }
  }
}

// Huber's weights of how far each row is from what the correction says without it, in units of the
// deviation that it would state of a row that is believed. `or_lines`: or from the straight line
// between its neighbours, where that is nearer: beside a switch that the physics set elsewhere
// smooth times have rough residuals.
void trust_by_neighbours(KindFit& fit, bool or_lines) {
  constexpr double huber = 1.345;  // 95 % efficient for normal errors
  const Kriging& correction = fit.correction;
  const double noise = correction.kernel().noise;
  std::vector<double> scores;
  for (std::size_t i = 0; i < fit.rows.size(); ++i) {
    const double own = noise * correction.points()[i].noise_factor;
    const double believed = noise / size_weight(fit.rows[i].bytes);
    const double all = correction.leave_one_out_deviation()[i];
    const double curve = std::max(0.0, all * all - own * own);
    double error = std::abs(correction.leave_one_out()[i]);
    if (or_lines) {
      const auto line = line_between_sizes(fit.rows, fit.rows[i]);
      if (line) error = std::min(error, std::abs(std::log(fit.rows[i].time / *line)));
    }
    scores.push_back(error / std::sqrt(curve + believed * believed));
  }
  const double scale = std::max(1.0, robust_scale(scores));
  for (std::size_t i = 0; i < scores.size(); ++i) {
    fit.trust[i] = std::min(1.0, huber * scale / scores[i]);
  }
}

// The share that errs least on sizes left out whole. No more than three quarters: no public series
// has a line that knows better alone.
double best_line_share(const KindFit& fit) {
  const auto left_out = fit.correction.leave_groups_out(size_groups(fit));
  double best_share = 0, least = HUGE_VAL;
  for (const double share : {0.0, 0.25, 0.5, 0.75}) {
    double sum = 0;
    for (std::size_t i = 0; i < fit.rows.size(); ++i) {
      const Observation& row = fit.rows[i];
      const auto line = line_between_sizes(fit.rows, row);
      if (!line) continue;
      const double curve = left_out[i].mean;
      const double error = curve + share * (std::log(row.time / *line) - curve);
      sum += size_weight(row.bytes) * std::abs(error);
    }
    if (sum >= least) continue;
    least = sum;
    best_share = share;
  }
  return best_share;
}

}  // namespace

std::vector<int> size_groups(const KindFit& fit) {
  std::vector<int> groups;
  for (const Observation& row : fit.rows) {
    groups.push_back(static_cast<int>(std::lround(4 * quarter_octave(row.bytes))));
  }
  return groups;
}

// A row is believed by its distance from its neighbours, not from the physics: where NCCL switches
// elsewhere than its model says, the physics errs for a whole stretch of sizes, of which each is
// true.
void fit_correction(KindFit& fit, const Hardware& hardware) {
  std::fill(fit.trust.begin(), fit.trust.end(), 1.0);
  choose_correction(fit, hardware);
  for (int round = 0; round < 3; ++round) {
    trust_by_neighbours(fit, false);
    choose_correction(fit, hardware);
  }
  // The last word on the rows leaves the kernel's lengths as they are: which rows are smooth along
  // the sizes says nothing of how far a correction reaches over the scales.
  std::vector<std::vector<double>> lengths;
  for (const double length : fit.correction.kernel().length) lengths.push_back({length});
  for (int round = 0; round < 3; ++round) {
    trust_by_neighbours(fit, true);
    fit.correction = fit_kriging(correction_points(fit, hardware), lengths);
  }
  fit.line_share = best_line_share(fit);
}

}  // namespace amsp
