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
#include "calibrate/nccl_algorithm.hpp"
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
  Widths widths{};        // of a kind that is derived from others
  double more_doubt = 0;  // about NCCL's choice, of such a kind

  [[nodiscard]] PhysicsTime physics(Bytes bytes, const PhysicsParameters& parameters) const {
    return physics_time(kind, bytes, shape, hardware, parameters);
  }
  [[nodiscard]] Seconds time(Bytes bytes) const;
  [[nodiscard]] Seconds unbounded_time(Bytes bytes, const std::optional<MeasuredLine>& line) const;
  [[nodiscard]] CurveValue value(Bytes bytes) const;
  [[nodiscard]] double parameter_deviation(Bytes bytes) const;
  [[nodiscard]] ChoiceDoubt doubt() const;
  [[nodiscard]] double choice_variance(Bytes bytes, const PhysicsTime& likely) const;
  [[nodiscard]] double toward_measured(Bytes bytes, const MeasuredLine& line) const;
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
  curve.more_doubt = at(Parameter::choose_ll);
  for (double& width : curve.widths) width *= used;
  for (const Parameter choice :
       {Parameter::choose_ll, Parameter::choose_ll128, Parameter::choose_tree,
        Parameter::choose_wide_tree, Parameter::choose_nvls}) {
    at(choice) = 0;  // that is the doubt
  }
  if (is_pairwise(kind)) at(Parameter::rate_nic) = pair_width;
  return curve;
}

// About the choice: twice that of the mean, and what the fit leaves of the factors on the modelled
// times of the candidates. (A gradient does not show these: a choice is all but a step.)
ChoiceDoubt Curve::doubt() const {
  double variance = 0;
  const auto add = [&](Parameter p) {
    const auto j = static_cast<std::size_t>(p);
    variance = std::max(variance, fit.covariance[j][j]);
  };
  for (const Candidate& candidate : candidates(kind, shape, hardware)) {
    if (candidate.protocol == Protocol::ll) add(Parameter::choose_ll);
    if (candidate.protocol == Protocol::ll128) add(Parameter::choose_ll128);
    if (const auto own = candidate.algorithm->choice_factor(shape)) add(*own);
  }
  const double of_mean = 2 * ChoiceDoubt{}.log_deviation;
  return {std::sqrt(of_mean * of_mean + more_doubt * more_doubt + variance)};
}

// Of log time about that of the likely choice.
double Curve::choice_variance(Bytes bytes, const PhysicsTime& likely) const {
  const PhysicsTime all = physics_time(kind, bytes, shape, hardware, fit.parameters, doubt());
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
double Curve::toward_measured(Bytes bytes, const MeasuredLine& line) const {
  if (!(fit.line_share > 0)) return 0;
  const Seconds physical = physics(line.bytes, fit.parameters).total();
  const double corrected =
      fit.correction.at(correction_place(fit, line.bytes, shape, hardware)).mean;
  const double octaves = std::abs(std::log2(bytes.value() / line.bytes.value()));
  return fit.line_share * std::exp2(-octaves) * (std::log(line.time / physical) - corrected);
}

Seconds Curve::unbounded_time(Bytes bytes, const std::optional<MeasuredLine>& line) const {
  double log_factor = line ? toward_measured(bytes, *line) : 0;
  if (!fit.rows.empty()) {
    log_factor += fit.correction.at(correction_place(fit, bytes, shape, hardware)).mean;
  }
  return physics(bytes, fit.parameters).total() * std::exp(log_factor);
}

// Between two measured sizes of the group itself the time lies between theirs: where NCCL switches
// in between the modelled choice may be wrong, and no hump that nobody saw is predicted.
Seconds Curve::time(Bytes bytes) const {
  const auto line = measured_line(fit.rows, shape, bytes);
  const Seconds free = unbounded_time(bytes, line);
  if (!line || bytes <= line->below || bytes >= line->above) return free;
  const auto at_measured = [&](Bytes size) {
    return unbounded_time(size, measured_line(fit.rows, shape, size));
  };
  const auto [least, most] = std::minmax({at_measured(line->below), at_measured(line->above)});
  return std::clamp(free, least, most);
}

CurveValue Curve::value(Bytes bytes) const {
  CurveValue value;
  value.physics = physics(bytes, fit.parameters);
  value.time = time(bytes);
  double variance = std::pow(parameter_deviation(bytes), 2) + choice_variance(bytes, value.physics);
  const double factor = bytes < large_size ? fit.small_interval_factor : fit.interval_factor;
  const double most = bytes < large_size ? fit.small_most_deviation : fit.most_deviation;
  if (!fit.rows.empty()) {
    const Kriging::Value correction =
        fit.correction.at(correction_place(fit, bytes, shape, hardware));
    const double noise = fit.correction.kernel().noise / size_weight(bytes);
    const double share = fit.correction.kernel().amplitude > 0
                             ? correction.deviation / fit.correction.kernel().amplitude
                             : 1.0;
    // Where the correction holds, the parameters' own uncertainty is corrected with the rest.
    const double stated = std::hypot(correction.deviation, noise);
    const double widened = std::clamp(factor * stated, stated, std::max(stated, most));
    variance = share * share * variance + widened * widened;
  } else {
    variance += fit.spread * fit.spread;
  }
  value.log_deviation = std::max(CurveValue::least_deviation, std::sqrt(variance));
  return value;
}

// An octave of size beyond the measured ones counts as this part of one of scale; but where the
// time hardly depends on the size, as small messages' does, no more of them than it changes by, and
// one.
double size_doubt(const Curve& curve, Bytes bytes, const Standing& standing) {
  if (!(standing.size_octaves > 0)) return 0;
  constexpr double part = 0.3;
  const double change = std::log2(curve.time(bytes) / curve.time(standing.nearest));
  return part * std::min(standing.size_octaves, 1 + std::abs(change));
}

// Nobody measured where NCCL switches here: the curve of its choices, made never to fall.
constexpr double most_unsaid = 0.1;
void raise(CurveValue& value, const Curve& curve, Bytes bytes, bool derived, RisingCurves* known) {
  const auto point = [&](Bytes size) {
    const PhysicsTime physics = curve.physics(size, curve.fit.parameters);
    return CurvePoint{curve.time(size), std::clamp(physics.transfer / physics.total(), 0.0, 1.0)};
  };
  const RisingTime risen =
      known != nullptr
          ? known->of(curve.kind, curve.shape, derived, point).raised(bytes, value.time)
          : RisingCurve(point).raised(bytes, value.time);
  value.time = risen.time;
  if (risen.log_shift > most_unsaid) {
    value.note += fmt::format(
        "{}NCCL's modelled choices would make more bytes take less time near here: levelled by "
        "{:.0f} %",
        value.note.empty() ? "" : "; ", 100 * std::expm1(risen.log_shift));
  }
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
      const double octaves = standing->octaves + size_doubt(curve, bytes, *standing);
      value.log_deviation = std::hypot(value.log_deviation, fit->scale_growth * octaves);
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
  raise(value, curve, bytes, true, known);
  return value;
}

}  // namespace amsp
