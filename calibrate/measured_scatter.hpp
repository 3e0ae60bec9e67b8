// SPDX-License-Identifier: Apache-2.0
// How much measurements of one and the same point differ: no curve can be nearer to all of them
// than half of that.
#pragma once
#include <string>
#include <vector>

#include "calibrate/collective_calibration.hpp"

namespace amsp {

// Rows of one class are of one size: 33554400 and 33554432 bytes are, two that differ by a percent
// are not.
long size_class(const Observation& row);

struct Scatter {
  CollectiveKind kind = CollectiveKind::all_reduce;
  bool large = true;        // from 16 MiB
  bool places = true;       // two runs (files, or places in one); false: two times of one row
  double difference = 0;    // longer / shorter - 1
  std::string description;  // where
};

// Every pair of times of one kind, size, shape and forced choice: between two rows (the geometric
// mean of each), and between the out-of-place and the in-place time of one row.
std::vector<Scatter> measured_scatter(const std::vector<Observation>& rows);

}  // namespace amsp
