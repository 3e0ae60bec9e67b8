// SPDX-License-Identifier: Apache-2.0
// Sends between two ranks on different nodes, where nobody measured them: NCCL cuts a message over
// few channels, fewer in large communicators, and one channel does not fill a fast NIC.
#pragma once
#include "base/quantity.hpp"
#include "calibrate/group_shape.hpp"

namespace amsp {

struct Hardware;

// The channels that NCCL from 2.29.2 on gives a pair (src/graph/paths.cc, connect.cc, 2.30.7).
int channels_of_pair(const GroupShape& shape, const Hardware& hardware);

// The share of a NIC's rate that they carry; 1 before 2.29.2 and of RCCL, of which nothing is
// known.
double share_of_pair(const GroupShape& shape, const Hardware& hardware);

// What the slowest measured channel carries; older NCCL gives a pair two channels, in large groups
// one.
constexpr Bandwidth slowest_channel = Bandwidth(12.4e9);

}  // namespace amsp
