// SPDX-License-Identifier: Apache-2.0
#include "calibrate/rising_curve.hpp"

#include <algorithm>
#include <cmath>

namespace amsp {

RisingCurve::RisingCurve(const std::function<Seconds(Bytes)>& curve) {
  std::array<double, points> highest{}, lowest{};
  for (std::size_t i = 0; i < points; ++i) {
    const Bytes size(std::exp2(static_cast<double>(i)));
    highest[i] = lowest[i] = std::log(curve(size).value());
  }
  for (std::size_t i = 1; i < points; ++i) {
    highest[i] = std::max(highest[i], highest[i - 1]);
    lowest[points - 1 - i] = std::min(lowest[points - 1 - i], lowest[points - i]);
  }
  for (std::size_t i = 0; i < points; ++i) level_[i] = (highest[i] + lowest[i]) / 2;
}

RisingTime RisingCurve::raised(Bytes bytes, Seconds time) const {
  const double octave = std::floor(std::log2(std::max(1.0, bytes.value())));
  const std::size_t below = std::min(points - 2, static_cast<std::size_t>(octave));
  const double here = std::log(time.value());
  const double risen = std::clamp(here, level_[below], level_[below + 1]);
  return {Seconds(std::exp(risen)), std::abs(risen - here)};
}

const RisingCurve& RisingCurves::of(CollectiveKind kind, const GroupShape& shape, bool derived,
                                    const std::function<Seconds(Bytes)>& curve) {
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
