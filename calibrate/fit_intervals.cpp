// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit_intervals.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "calibrate/correction_fit.hpp"
#include "calibrate/fit_stage.hpp"

namespace amsp {
namespace {

// The value that nine of ten do not exceed, as split conformal prediction takes it: of n values the
// one of rank 0.9 (n + 1).
double ninety_percent(std::vector<double>& values) {
  const auto n = values.size();
  const auto rank = static_cast<std::size_t>(std::ceil(0.9 * static_cast<double>(n + 1)));
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(std::min(rank, n) - 1);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

std::vector<int> scale_groups(const KindFit& fit) {
  std::vector<int> groups;
  for (const Observation& row : fit.rows) {
    groups.push_back(2 * row.shape.ranks + correction_domain(row.shape));
  }
  return groups;
}

struct Scores {
  std::vector<double> large, small;
};

// Errors of groups left out whole, in units of the deviation that the fit would have stated. The
// least and the largest group are no interpolation.
void score(const KindFit& fit, const std::vector<int>& groups, Scores& scores) {
  const std::set<int> names(groups.begin(), groups.end());
  if (names.size() < 3) return;
  const auto left_out = fit.correction.leave_groups_out(groups);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i] == *names.begin() || groups[i] == *names.rbegin()) continue;
    const Bytes bytes = fit.rows[i].bytes;
    const double noise = fit.correction.kernel().noise / size_weight(bytes);
    const double stated = std::max(0.02, std::hypot(left_out[i].deviation, noise));
    (bytes < large_size ? scores.small : scores.large)
        .push_back(std::abs(left_out[i].mean) / stated);
  }
}

double factor_of(std::vector<double>& scores, double otherwise) {
  if (scores.size() < 10) return otherwise;
  return std::clamp(ninety_percent(scores) / CurveValue::z90, 1.0, 8.0);
}

// Deviation of log time that the physics alone leave of the measured rows of a class of sizes.
double missed_by_physics(const KindFit& fit, bool large) {
  std::vector<double> misses;
  for (std::size_t i = 0; i < fit.rows.size(); ++i) {
    if ((fit.rows[i].bytes >= large_size) != large) continue;
    misses.push_back(std::abs(fit.correction.points()[i].value));
  }
  constexpr std::size_t enough = 5;
  return misses.size() < enough ? 1.0 : ninety_percent(misses) / CurveValue::z90;
}

// Errors of the physics at scales above the fitted ones, for each doubling.
void predict_above(const KindFit& fit, const CollectiveCalibration& calibration, int largest,
                   std::vector<double>& errors) {
  std::vector<Observation> below;
  for (const Observation& row : fit.rows) {
    if (row.shape.ranks <= largest) below.push_back(row);
  }
  std::vector<double> from;
  for (const double value : fit.parameters.values) from.push_back(std::log(value));
  const LeastSquaresSolution solution =
      fit_stage(below, system_stage(calibration.defaults), calibration.hardware, from);
  PhysicsParameters parameters;
  for (std::size_t j = 0; j < parameter_count; ++j) {
    parameters.values[j] = std::exp(solution.parameters[j]);
  }
  for (const Observation& row : fit.rows) {
    if (row.shape.ranks <= largest || row.bytes < large_size) continue;
    const Seconds time =
        physics_time(row.kind, row.bytes, row.shape, calibration.hardware, parameters).total();
    const double octaves = std::max(1.0, std::log2(row.shape.ranks / static_cast<double>(largest)));
    errors.push_back(std::abs(std::log(row.time / time)) / octaves);
  }
}

}  // namespace

void fit_intervals(KindFit& fit, const CollectiveCalibration& calibration) {
  Scores scores;
  score(fit, size_groups(fit), scores);
  score(fit, scale_groups(fit), scores);
  constexpr double too_few = 1.5;
  fit.interval_factor = factor_of(scores.large, too_few);
  fit.small_interval_factor = factor_of(scores.small, std::max(too_few, fit.interval_factor));
  fit.most_deviation = missed_by_physics(fit, true);
  fit.small_most_deviation = missed_by_physics(fit, false);
  std::set<int> scales;
  for (const Observation& row : fit.rows) {
    if (row.shape.nodes > 1) scales.insert(row.shape.ranks);
  }
  // Above the two largest scales but one: at least one scale across nodes must be fitted.
  std::vector<double> errors;
  auto scale = scales.rbegin();
  for (int left_out = 0; left_out < 2 && scales.size() >= 2; ++left_out) {
    if (++scale == scales.rend()) break;
    predict_above(fit, calibration, *scale, errors);
  }
  // Where too little tells, the median of what every two scales of Alps and of the A800 show
  // (0.07 to 1); two scales show one step only, which may have gone well by chance.
  constexpr double usual = 0.14, least = 0.06;
  fit.scale_growth = usual;
  if (errors.size() < 5) return;
  const double floor = scales.size() > 2 ? least : usual;
  fit.scale_growth = std::clamp(ninety_percent(errors) / CurveValue::z90, floor, 1.0);
}

}  // namespace amsp
