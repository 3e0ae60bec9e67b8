// SPDX-License-Identifier: Apache-2.0
// Intervals that say little more than nothing.
#pragma once
#include <string>

#include "base/quantity.hpp"

namespace amsp {

// "the interval spans a factor of 50, hardly a prediction: …" where it spans more than 20 (ten
// times as long where half as long is possible); else "".
std::string said_of_interval(Seconds low, Seconds high);

}  // namespace amsp
