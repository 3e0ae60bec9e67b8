// SPDX-License-Identifier: Apache-2.0
#include "calibrate/rising_curve.hpp"

#include <algorithm>
#include <cmath>

namespace amsp {

namespace {

// Where the fullest link is busy all the time, twice the bytes take twice as long, and where
// nothing streams, as long: at least this of log time, by the cube of the share. A ring's time is
// (way^p + streaming^p)^(1/p) with p near 3, so that its slope is that cube.
double rise_of_octave(double streaming) { return 0.1 * std::pow(streaming, 3); }

}  // namespace

RisingCurve::RisingCurve(const std::function<CurvePoint(Bytes)>& curve) {
  std::array<double, points> highest{}, lowest{};
  double before = 0;
  for (std::size_t i = 0; i < points; ++i) {
    const CurvePoint point = curve(Bytes(std::exp2(static_cast<double>(i))));
    if (i > 0) rise_[i] = rise_[i - 1] + rise_of_octave(std::min(before, point.streaming));
    before = point.streaming;
    highest[i] = lowest[i] = std::log(point.time.value()) - rise_[i];
  }
  for (std::size_t i = 1; i < points; ++i) {
    highest[i] = std::max(highest[i], highest[i - 1]);
    lowest[points - 1 - i] = std::min(lowest[points - 1 - i], lowest[points - i]);
  }
  for (std::size_t i = 0; i < points; ++i) level_[i] = (highest[i] + lowest[i]) / 2;
}

double RisingCurve::least_rise(double octave) const {
  const std::size_t below = std::min(points - 2, static_cast<std::size_t>(octave));
  const double part = octave - static_cast<double>(below);
  return rise_[below] + part * (rise_[below + 1] - rise_[below]);
}

RisingTime RisingCurve::raised(Bytes bytes, Seconds time) const {
  const double octave = std::log2(std::max(1.0, bytes.value()));
  const std::size_t below = std::min(points - 2, static_cast<std::size_t>(octave));
  const double here = std::log(time.value()), rise = least_rise(octave);
  const double risen = rise + std::clamp(here - rise, level_[below], level_[below + 1]);
  return {Seconds(std::exp(risen)), std::abs(risen - here)};
}

const RisingCurve& RisingCurves::of(CollectiveKind kind, const GroupShape& shape, bool derived,
                                    const std::function<CurvePoint(Bytes)>& curve) {
  const std::tuple key(kind, shape, derived);
  {
    const std::lock_guard<std::mutex> lock(guard_);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
  }
  const RisingCurve risen(curve);  // two threads may make the same one
  const std::lock_guard<std::mutex> lock(guard_);
  return known_.emplace(key, risen).first->second;
}

}  // namespace amsp
