// SPDX-License-Identifier: Apache-2.0
// Short names of the files that a calibration was made from.
#pragma once
#include <map>
#include <string>
#include <vector>

namespace amsp {

// For each path its last component, or as many of the last ones as tell it from every other path
// of the list: "run1/out.txt" and "run2/out.txt", but "sizes.csv".
std::map<std::string, std::string> source_names(const std::vector<std::string>& paths);

}  // namespace amsp
