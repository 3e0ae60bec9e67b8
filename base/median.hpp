// SPDX-License-Identifier: Apache-2.0
// The median of numbers or quantities.
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

namespace amsp {

// Of an even number of values the mean of the two in the middle; of none zero.
template <class Value>
Value median(std::vector<Value> values) {
  if (values.empty()) return Value{};
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 != 0 ? values[half] : (values[half - 1] + values[half]) * 0.5;
}

}  // namespace amsp
