// SPDX-License-Identifier: Apache-2.0
// A curve of times over sizes, made never to fall: of all such curves the one that is nearest to it
// in log time.
#pragma once
#include <functional>

#include "base/quantity.hpp"

namespace amsp {

struct RisingTime {
  Seconds time;
  double log_shift = 0;  // how far the curve was moved here
};

// Between the greatest time of smaller and the least of greater sizes, half way in log time, seen
// on the powers of two. Where the curve rises, itself. Twice the bytes never take less time.
RisingTime rising_time(const std::function<Seconds(Bytes)>& curve, Bytes bytes);

}  // namespace amsp
