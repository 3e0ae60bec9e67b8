// SPDX-License-Identifier: Apache-2.0
// A yardstick without physics for what a fit says of rows that it has not seen: the straight line,
// in logarithms of size or ranks and time, between the neighbours that were measured.
#pragma once
#include <optional>
#include <vector>

#include "calibrate/collective_calibration.hpp"

namespace amsp {

// Sizes of one octave's quarter stand together (33554400 and 33554432 bytes are one size).
double quarter_octave(Bytes bytes);

// Time at `row` by the line between the next smaller and the next larger size of its own run (file,
// kind, shape); nothing when either is missing.
std::optional<Seconds> line_between_sizes(const std::vector<Observation>& rows,
                                          const Observation& row);

// … between the next smaller and the next larger group with as many ranks on a node and as many
// NICs, at the row's size; within one node, or across nodes, apart.
std::optional<Seconds> line_between_scales(const std::vector<Observation>& rows,
                                           const Observation& row);

// What rows of one kind measured of one group, as a line over the sizes through the geometric mean
// time of each. Beyond the measured sizes the nearest of them.
struct MeasuredLine {
  Bytes bytes;  // the size asked for, or the nearest measured one
  Seconds time;
  Bytes below, above;  // the measured sizes that it lies between; beyond them, the nearest
};
std::optional<MeasuredLine> measured_line(const std::vector<Observation>& rows,
                                          const GroupShape& shape, Bytes bytes);

}  // namespace amsp
