// SPDX-License-Identifier: Apache-2.0
#include "calibrate/collective_calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "calibrate/nccl_algorithm.hpp"
#include "calibrate/straight_lines.hpp"

namespace amsp {
namespace {

// What was measured of one kind in one domain (inside a node, or across).
struct Extent {
  int rows = 0;
  int least_ranks = 0, most_ranks = 0;
  double least_bytes = 0, most_bytes = 0;
  bool same_node = false;  // some row has this number of ranks per node and NICs
};

Extent extent_of(const KindFit& fit, const GroupShape& shape, const Hardware& hardware) {
  Extent extent;
  for (const Observation& row : fit.rows) {
    if (correction_domain(row.shape) != correction_domain(shape)) continue;
    const double bytes = row.bytes.value();
    if (extent.rows++ == 0) {
      extent.least_ranks = extent.most_ranks = row.shape.ranks;
      extent.least_bytes = extent.most_bytes = bytes;
    }
    extent.least_ranks = std::min(extent.least_ranks, row.shape.ranks);
    extent.most_ranks = std::max(extent.most_ranks, row.shape.ranks);
    extent.least_bytes = std::min(extent.least_bytes, bytes);
    extent.most_bytes = std::max(extent.most_bytes, bytes);
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

struct Standing {
  PredictionRange range = PredictionRange::measured;
  double octaves = 0;  // of extrapolation
  std::string note;
};

Standing standing_of(const Extent& extent, Bytes bytes, const GroupShape& shape) {
  Standing standing;
  const auto add = [&](const std::string& text, double octaves) {
    standing.range = PredictionRange::extrapolated;
    standing.octaves += octaves;
    standing.note += (standing.note.empty() ? "" : "; ") + text;
  };
  const double ranks = beyond(extent.least_ranks, shape.ranks, extent.most_ranks);
  if (ranks > 1.001) {
    add(fmt::format("{:.3g}x beyond the measured {} to {} ranks", ranks, extent.least_ranks,
                    extent.most_ranks),
        std::log2(ranks));
  }
  const double size = beyond(extent.least_bytes, bytes.value(), extent.most_bytes);
  if (size > 1.001) {
    add(fmt::format("{:.3g}x beyond the measured sizes", size), 0.3 * std::log2(size));
  }
  if (!extent.same_node) {
    add(fmt::format("no group with {} ranks a node on this number of NICs was measured",
                    shape.ranks_per_node),
        1.0);
  }
  return standing;
}

// Uncertainty of log time from that of the parameters: gradient by differences.
double parameter_deviation(const KindFit& fit, CollectiveKind kind, Bytes bytes,
                           const GroupShape& shape, const Hardware& hardware) {
  std::array<double, parameter_count> gradient{};
  const double here =
      std::log(physics_time(kind, bytes, shape, hardware, fit.parameters).total().value());
  for (std::size_t j = 0; j < parameter_count; ++j) {
    if (fit.covariance[j][j] <= 0) continue;
    PhysicsParameters shifted = fit.parameters;
    shifted.values[j] *= std::exp(0.01);
    const Seconds time = physics_time(kind, bytes, shape, hardware, shifted).total();
    gradient[j] = (std::log(time.value()) - here) / 0.01;
  }
  double variance = 0;
  for (std::size_t j = 0; j < parameter_count; ++j) {
    for (std::size_t k = 0; k < parameter_count; ++k) {
      variance += gradient[j] * gradient[k] * fit.covariance[j][k];
    }
  }
  return std::sqrt(std::max(0.0, variance));
}

// A group that was itself measured: a share of what the line through its measured times adds to the
// corrected physics. These err where NCCL switches elsewhere than thought, the line where the curve
// bends; the mean of both errs less than either. Beyond the measured sizes it halves each octave.
double toward_measured(const KindFit& fit, CollectiveKind kind, Bytes bytes,
                       const GroupShape& shape, const Hardware& hardware) {
  if (!(fit.line_share > 0)) return 0;
  const auto line = measured_line(fit.rows, shape, bytes);
  if (!line) return 0;
  const Seconds physics = physics_time(kind, line->bytes, shape, hardware, fit.parameters).total();
  const auto point = correction_point(fit, line->bytes, shape, hardware);
  const double corrected = fit.correction.at(point, correction_domain(shape)).mean;
  const double octaves = std::abs(std::log2(bytes.value() / line->bytes.value()));
  return fit.line_share * std::exp2(-octaves) * (std::log(line->time / physics) - corrected);
}

}  // namespace

std::vector<double> correction_point(const KindFit& fit, Bytes bytes, const GroupShape& shape,
                                     const Hardware& hardware) {
  const double ranks = std::log2(static_cast<double>(shape.ranks));
  const double nics = shape.nodes > 1 ? nics_used(shape, hardware) : 1;
  const double local = shape.nodes > 1 ? shape.ranks_per_node : 1;
  return {std::log2(std::max(1.0, bytes.value())) - fit.rotation * ranks, ranks, std::log2(nics),
          std::log2(local)};
}

std::vector<Kriging::Point> correction_points(const KindFit& fit, const Hardware& hardware) {
  std::vector<Kriging::Point> points;
  for (std::size_t i = 0; i < fit.rows.size(); ++i) {
    const Observation& row = fit.rows[i];
    const PhysicsTime physics =
        physics_time(row.kind, row.bytes, row.shape, hardware, fit.parameters);
    const double trust = std::max(0.02, fit.trust[i] * fit.trust[i]);
    const double doubt = 1 / (size_weight(row.bytes) * trust);
    points.push_back({correction_point(fit, row.bytes, row.shape, hardware),
                      std::log(row.time / physics.total()), doubt, correction_domain(row.shape)});
  }
  return points;
}

Kriging make_correction(const KindFit& fit, const Kernel3& kernel, const Hardware& hardware) {
  return Kriging(correction_points(fit, hardware), kernel);
}

double CurveValue::factor90() const { return std::exp(z90 * log_deviation); }

const KindFit* CollectiveCalibration::find(CollectiveKind kind) const {
  for (const KindFit& fit : kinds) {
    if (fit.kind == kind) return &fit;
  }
  return nullptr;
}

CurveValue CollectiveCalibration::fitted(const KindFit& fit, CollectiveKind kind, Bytes bytes,
                                         const GroupShape& shape) const {
  CurveValue value;
  value.physics = physics_time(kind, bytes, shape, hardware, fit.parameters);
  value.time = value.physics.total() * std::exp(toward_measured(fit, kind, bytes, shape, hardware));
  double variance = std::pow(parameter_deviation(fit, kind, bytes, shape, hardware), 2);
  if (!fit.rows.empty()) {
    const Kriging::Value correction =
        fit.correction.at(correction_point(fit, bytes, shape, hardware), correction_domain(shape));
    value.time = value.time * std::exp(correction.mean);
    const double noise = fit.correction.kernel().noise / size_weight(bytes);
    const double share = fit.correction.kernel().amplitude > 0
                             ? correction.deviation / fit.correction.kernel().amplitude
                             : 1.0;
    // Where the correction holds, the parameters' own uncertainty is corrected with the rest.
    variance = share * share * variance + std::pow(correction.deviation, 2) + noise * noise;
  } else {
    variance += fit.spread * fit.spread;
  }
  const double factor = bytes < large_size ? fit.small_interval_factor : fit.interval_factor;
  value.log_deviation = std::max(CurveValue::least_deviation, factor * std::sqrt(variance));
  return value;
}

CurveValue CollectiveCalibration::at(CollectiveKind kind, Bytes bytes,
                                     const GroupShape& shape) const {
  const KindFit* fit = find(kind);
  const Extent extent = fit != nullptr ? extent_of(*fit, shape, hardware) : Extent{};
  if (extent.rows > 0) {
    CurveValue value = fitted(*fit, kind, bytes, shape);
    const Standing standing = standing_of(extent, bytes, shape);
    value.range = standing.range;
    value.note = standing.note;
    value.log_deviation = std::hypot(value.log_deviation, fit->scale_growth * standing.octaves);
    return value;
  }
  std::string measured;
  for (const KindFit& other : kinds) {
    if (extent_of(other, shape, hardware).rows == 0) continue;
    measured += (measured.empty() ? "" : ", ") + std::string(name_of(other.kind));
  }
  CurveValue value = fitted(fit != nullptr && measured.empty() ? *fit : system, kind, bytes, shape);
  value.log_deviation = std::hypot(value.log_deviation, 0.2);
  value.range = PredictionRange::extrapolated;
  if (measured.empty()) {
    value.range = PredictionRange::default_model;
    value.log_deviation = std::hypot(value.log_deviation, 0.3);
    value.note = shape.nodes > 1 ? "nothing was measured across nodes: NCCL's published constants"
                                 : "nothing was measured inside a node: NCCL's published constants";
  } else {
    value.note = "not measured; derived from the physics of " + measured;
  }
  return value;
}

AchievableRates CollectiveCalibration::achievable() const {
  double port = defaults[Parameter::rate_inside] / hardware.ring_share;
  double nic = defaults[Parameter::rate_nic];
  const auto cover = [&](const PhysicsParameters& p) {
    const double inside = p[Parameter::rate_inside] / hardware.ring_share;
    port = std::max({port, inside, hardware.nvls ? p[Parameter::rate_nvls] : 0});
    nic = std::max(nic, p[Parameter::rate_nic]);
    if (hardware.collnet != CollnetUse::never) nic = std::max(nic, p[Parameter::rate_collnet]);
  };
  if (!kinds.empty()) {
    port = nic = 0;
    cover(system.parameters);
  }
  for (const KindFit& fit : kinds) {
    cover(fit.parameters);
    for (const Observation& row : fit.rows) {
      const PhysicsTime physics =
          physics_time(row.kind, row.bytes, row.shape, hardware, fit.parameters);
      const WireBytes wire = physics.candidate.algorithm->wire_bytes(
          row.kind, row.bytes, row.shape, nics_used(row.shape, hardware));
      // A data sheet's rate cannot be exceeded: such a row took another algorithm.
      port = std::max(port, std::min((wire.port / row.time).value(), hardware.gpu_rate.value()));
      nic = std::max(nic, std::min((wire.nic / row.time).value(), hardware.nic_rate.value()));
    }
  }
  return {Bandwidth(port), Bandwidth(nic)};
}

}  // namespace amsp
