// SPDX-License-Identifier: Apache-2.0
// The flags that choose how a schedule is replayed; shared by simulate, replay, reproduce, …
#pragma once
#include <string>

#include "cli/options.hpp"
#include "sim/replay.hpp"

namespace amsp {

class ReplayFlags {
 public:
  void declare(Options& options);
  // Throws InputError when the flags contradict each other.
  [[nodiscard]] ReplayOptions options() const;

 private:
  std::string engine_ = "fluid";
  bool unfolded_ = false, messages_ = false, all_repeats_ = false;
  long long steps_ = ReplayOptions{}.steps;
};

}  // namespace amsp
