// SPDX-License-Identifier: Apache-2.0
#include "calibrate/rising_curve.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace amsp {

RisingTime rising_time(const std::function<Seconds(Bytes)>& curve, Bytes bytes) {
  constexpr std::size_t points = 48;  // to 128 TiB
  std::array<double, points> highest{}, lowest{};
  for (std::size_t i = 0; i < points; ++i) {
    const Bytes size(std::exp2(static_cast<double>(i)));
    highest[i] = lowest[i] = std::log(curve(size).value());
  }
  for (std::size_t i = 1; i < points; ++i) {
    highest[i] = std::max(highest[i], highest[i - 1]);
    lowest[points - 1 - i] = std::min(lowest[points - 1 - i], lowest[points - i]);
  }
  const auto level = [&](std::size_t i) { return (highest[i] + lowest[i]) / 2; };
  const double octave = std::floor(std::log2(std::max(1.0, bytes.value())));
  const std::size_t below = std::min(points - 2, static_cast<std::size_t>(octave));
  const double here = std::log(curve(bytes).value());
  const double risen = std::clamp(here, level(below), level(below + 1));
  return {Seconds(std::exp(risen)), std::abs(risen - here)};
}

}  // namespace amsp
