// SPDX-License-Identifier: Apache-2.0
// How far measurements on this machine can be trusted: their spread, and what else ran meanwhile.
#pragma once
#include <cstdint>
#include <vector>

#include "base/quantity.hpp"
#include "exec/trace.hpp"

namespace amsp {

// Half the interquartile range over the median; 0 for fewer than three values.
double relative_spread(std::vector<Seconds> values);

// Measurements with a larger spread are called noisy: single medians of five then scatter by some
// 5 %, half of the error that is asked for (10 %).
constexpr double noisy_spread = 0.05;

// The steps of b after those of a, which ran the same job.
ExecTrace joined(ExecTrace a, const ExecTrace& b);

// Share of this machine's processor time that other processes took, and that the hypervisor took,
// while the object lived (/proc/stat less this process and its ended children).
struct ForeignLoad {
  double others = 0, steal = 0;
};
class LoadMeter {
 public:
  LoadMeter();
  [[nodiscard]] ForeignLoad read() const;

 private:
  struct Ticks {
    double total = 0, user = 0, steal = 0;  // of all processors
    double own = 0;                         // user time of this process and its ended children
  };
  static Ticks now();
  Ticks start_;
};

}  // namespace amsp
