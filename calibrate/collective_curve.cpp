// SPDX-License-Identifier: Apache-2.0
// What a calibration says of one question: physics and correction where the kind was measured,
// physics alone beyond and for other kinds, and how sure it is.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "calibrate/collective_calibration.hpp"
#include "calibrate/fit_stage.hpp"
#include "calibrate/measured_extent.hpp"
#include "calibrate/measured_latencies.hpp"
#include "calibrate/rising_curve.hpp"
#include "calibrate/straight_lines.hpp"

namespace amsp {
namespace {

// Deviations of log parameters by which one kind's differ from those of all kinds.
using Widths = std::array<double, parameter_count>;

// One kind on one group of ranks.
struct Curve {
  const KindFit& fit;
  const Hardware& hardware;
  CollectiveKind kind;
  const GroupShape& shape;
  Widths widths{};  // of a kind that is derived from others
  ChoiceDoubt doubt{
      .log_deviation =
          2 * ChoiceDoubt{}.log_deviation};  // of the interval; more of it for such a kind

  [[nodiscard]] PhysicsTime physics(Bytes bytes, const PhysicsParameters& parameters) const {
    return physics_time(kind, bytes, shape, hardware, parameters);
  }
  [[nodiscard]] Seconds time(Bytes bytes) const;
  [[nodiscard]] CurveValue value(Bytes bytes) const;
  [[nodiscard]] double parameter_deviation(Bytes bytes) const;
  [[nodiscard]] double choice_variance(Bytes bytes, const PhysicsTime& likely) const;
  [[nodiscard]] double toward_measured(Bytes bytes) const;
};

// Deviation of the logarithm of a NIC's rate in sends between pairs from that in rings: of three
// public series that have both, two reach half of it (Polaris' all_to_all, send_recv between H100),
// one all but 7 % (all_to_all between H100).
constexpr double pair_width = 0.56;

// A kind's own parameters differ from those of all kinds, and NCCL's modelled times from those here
// as the fitted factors on them do. How far: by what a fit of the kind would let them, which
// left-out kinds of public series show to be too much: `used` covers nine of ten of their times.
Curve derived_curve(const KindFit& system, const Hardware& hardware, CollectiveKind kind,
                    const GroupShape& shape) {
  constexpr double used = 0.6;
  Curve curve{system, hardware, kind, shape};
  curve.widths = kind_stage(system.parameters, kind).width;
  const auto at = [&](Parameter p) -> double& { return curve.widths[static_cast<std::size_t>(p)]; };
  curve.doubt.log_deviation = std::hypot(curve.doubt.log_deviation, at(Parameter::choose_ll));
  for (double& width : curve.widths) width *= used;
  for (const Parameter choice :
       {Parameter::choose_ll, Parameter::choose_ll128, Parameter::choose_tree,
        Parameter::choose_wide_tree, Parameter::choose_nvls}) {
    at(choice) = 0;  // that is the doubt
  }
  if (is_pairwise(kind)) at(Parameter::rate_nic) = pair_width;
  return curve;
}

// Of log time about that of the likely choice.
double Curve::choice_variance(Bytes bytes, const PhysicsTime& likely) const {
  const PhysicsTime all = physics_time(kind, bytes, shape, hardware, fit.parameters, doubt);
  return std::pow(all.choice_deviation, 2) + std::pow(std::log(all.total() / likely.total()), 2);
}

// Uncertainty of log time from that of the parameters: gradient by differences.
double Curve::parameter_deviation(Bytes bytes) const {
  Widths gradient{};
  const double here = std::log(physics(bytes, fit.parameters).total().value());
  double variance = 0;
  for (std::size_t j = 0; j < parameter_count; ++j) {
    if (fit.covariance[j][j] <= 0 && widths[j] <= 0) continue;
    PhysicsParameters shifted = fit.parameters;
    shifted.values[j] *= std::exp(0.01);
    gradient[j] = (std::log(physics(bytes, shifted).total().value()) - here) / 0.01;
    variance += std::pow(gradient[j] * widths[j], 2);
  }
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
double Curve::toward_measured(Bytes bytes) const {
  if (!(fit.line_share > 0)) return 0;
  const auto line = measured_line(fit.rows, shape, bytes);
  if (!line) return 0;
  const Seconds physical = physics(line->bytes, fit.parameters).total();
  const double corrected =
      fit.correction.at(correction_place(fit, line->bytes, shape, hardware)).mean;
  const double octaves = std::abs(std::log2(bytes.value() / line->bytes.value()));
  return fit.line_share * std::exp2(-octaves) * (std::log(line->time / physical) - corrected);
}

Seconds Curve::time(Bytes bytes) const {
  double log_factor = toward_measured(bytes);
  if (!fit.rows.empty()) {
    log_factor += fit.correction.at(correction_place(fit, bytes, shape, hardware)).mean;
  }
  return physics(bytes, fit.parameters).total() * std::exp(log_factor);
}

CurveValue Curve::value(Bytes bytes) const {
  CurveValue value;
  value.physics = physics(bytes, fit.parameters);
  value.time = time(bytes);
  double variance = std::pow(parameter_deviation(bytes), 2) + choice_variance(bytes, value.physics);
  if (!fit.rows.empty()) {
    const Kriging::Value correction =
        fit.correction.at(correction_place(fit, bytes, shape, hardware));
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

// Nobody measured where NCCL switches here: the curve of its choices, made never to fall.
void raise(CurveValue& value, const Curve& curve, Bytes bytes, bool derived, RisingCurves* known) {
  const auto time = [&](Bytes size) { return curve.time(size); };
  const RisingTime risen =
      known != nullptr ? known->of(curve.kind, curve.shape, derived, time).raised(bytes, value.time)
                       : RisingCurve(time).raised(bytes, value.time);
  value.time = risen.time;
  value.log_deviation = std::hypot(value.log_deviation, risen.log_shift / CurveValue::z90);
}

}  // namespace

CurveValue CollectiveCalibration::at(CollectiveKind kind, Bytes bytes, const GroupShape& shape,
                                     RisingCurves* known) const {
  const KindFit* fit = find(kind);
  if (fit != nullptr) {
    if (const auto standing = standing_of(*fit, bytes, shape, hardware)) {
      const Curve curve{*fit, hardware, kind, shape};
      CurveValue value = curve.value(bytes);
      value.range = standing->range;
      value.note = standing->note;
      value.log_deviation = std::hypot(value.log_deviation, fit->scale_growth * standing->octaves);
      if (!standing->scale_measured) raise(value, curve, bytes, false, known);
      return value;
    }
  }
  std::string measured;
  for (const KindFit& other : kinds) {
    if (!standing_of(other, bytes, shape, hardware)) continue;
    measured += (measured.empty() ? "" : ", ") + std::string(name_of(other.kind));
  }
  KindFit guess;  // nothing was measured in this domain: its latencies are those of other clusters
  if (measured.empty()) {
    guess = fit != nullptr ? *fit : system;
    guess.parameters = as_measured_elsewhere(guess.parameters, shape.nodes == 1, shape.nodes > 1);
  }
  const Curve curve = derived_curve(measured.empty() ? guess : system, hardware, kind, shape);
  CurveValue value = curve.value(bytes);
  raise(value, curve, bytes, true, known);
  value.range = PredictionRange::extrapolated;
  if (measured.empty()) {
    value.range = PredictionRange::default_model;
    // As wide as the default model's interval is where latency counts, and where it does not.
    value.log_deviation = std::hypot(value.log_deviation, bytes < large_size ? 0.6 : 0.3);
    value.note =
        shape.nodes > 1
            ? "nothing was measured across nodes: data-sheet rates, latencies of public logs"
            : "nothing was measured inside a node: data-sheet rates, latencies of public logs";
  } else {
    value.note = "not measured; derived from the physics of " + measured;
  }
  return value;
}

}  // namespace amsp
