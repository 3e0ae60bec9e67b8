// SPDX-License-Identifier: Apache-2.0
#include "calibrate/wide_interval.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace amsp {

std::string said_of_interval(Seconds low, Seconds high) {
  constexpr double widest = 20, most_told = 1000;
  const double span = low > Seconds(0) ? high / low : 0;
  if (!(span > widest)) return {};
  return fmt::format(
      "the interval spans {}a factor of {:.0f}, hardly a prediction: measure nearer to this point "
      "(amsp calibrate)",
      span > most_told ? "more than " : "", std::min(span, most_told));
}

}  // namespace amsp
