// SPDX-License-Identifier: Apache-2.0
// What this machine has of the things that amsp can use but does not need.
#pragma once
#include <string>
#include <vector>

namespace amsp {

struct MachineCheck {
  std::string what;  // "gnuplot"
  bool present = false;
  std::string found;    // a path, a version, a number, or why not
  std::string without;  // what is skipped without it
};

std::vector<MachineCheck> check_machine();

}  // namespace amsp
