// SPDX-License-Identifier: Apache-2.0
// Everything of a replay before folding, and partitions of its ranks, groups and links into
// classes.
#pragma once
#include <vector>

#include "sim/group_table.hpp"
#include "sim/replay.hpp"
#include "sim/traffic_table.hpp"

namespace amsp {

struct Unfolded {
  const Network* network = nullptr;
  std::vector<JobGroups> jobs;  // the main job first
  std::vector<TrafficTable> traffic;
  std::vector<double> speed;                          // by GPU
  std::vector<Bandwidth> capacity;                    // by link, with perturbations
  std::vector<std::size_t> first_rank;                // by job: number of its rank 0
  std::vector<std::vector<std::size_t>> first_group;  // by job and communicator
  std::size_t ranks = 0, groups = 0;
};

// Throws InputError when a job does not fit on the network or two jobs share a GPU.
Unfolded unfold(const ReplayInput& input);

// Class numbers are dense and in the order of each class's first member (its representative).
struct Partition {
  std::vector<int> rank_class, group_class, link_class;  // link: -1 = carries nothing, or implied
  int rank_classes = 0, group_classes = 0, link_classes = 0;
};

Partition trivial_partition(const Unfolded& unfolded);
// The coarsest partition that the schedule, the placement, the perturbations and the cluster
// respect (colour refinement; docs/model/60-folding.md).
Partition coarsest_partition(const Unfolded& unfolded);

}  // namespace amsp
