// SPDX-License-Identifier: Apache-2.0
// Times that no machine can have: mostly a column in another unit than its title says.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "calibrate/observations.hpp"

namespace amsp {

// Why the time cannot be right on this cluster; none when it can.
std::optional<std::string> implausible(const Observation& row, const ClusterSpec& cluster);
// The same for a kernel, by its rate against the GPU's peak, with the question about its unit.
std::optional<std::string> implausible(const KernelTime& row, const GpuSpec& gpu);

// The warning of a table whose fastest kernel is far below the GPU; none when it is not.
std::optional<std::string> slow_kernels(const std::vector<KernelTime>& rows, const GpuSpec& gpu);

// Moves implausible rows to `refused`, and whole series (rows of one file, kind and group) of which
// most are. Warns of series that are possible but very slow, of rows above what the cluster's ports
// carry by more than in-network reduction allows, and of series that reach less than 1/30 of it at
// their largest size: once for each file, with the unit of time that would make sense. `runs`:
// those that the rows come from, for the units that their titles state.
void refuse_implausible(Observations& all, const std::vector<MeasuredRun>& runs,
                        const ClusterSpec& cluster);

}  // namespace amsp
