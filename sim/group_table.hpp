// SPDX-License-Identifier: Apache-2.0
// The groups of each communicator of a job on the GPUs of a cluster, unfolded.
#pragma once
#include <span>
#include <vector>

#include "base/id.hpp"
#include "calibrate/group_shape.hpp"
#include "topologies/network.hpp"
#include "workloads/schedule.hpp"

namespace amsp {

// Groups of one communicator; plain indices, because there may be hundreds of thousands.
struct GroupTable {
  std::vector<int> first;     // members of group g: [first[g], first[g + 1])
  std::vector<Rank> members;  // in the order of the group
  std::vector<GpuId> gpus;    // of the members
  std::vector<int> group_of;  // by rank; -1: in none
  std::vector<int> index_of;  // by rank: index in its group
  std::vector<int> shape_of;  // by group: index into JobGroups::shapes

  [[nodiscard]] int groups() const { return static_cast<int>(first.size()) - 1; }
  [[nodiscard]] std::span<const Rank> ranks(int group) const;
  [[nodiscard]] std::span<const GpuId> gpus_of(int group) const;
};

struct JobGroups {
  const Schedule* schedule = nullptr;
  std::vector<GpuId> gpu_of_rank;
  std::vector<GroupTable> tables;  // by communicator
  std::vector<GroupShape> shapes;

  // Does the rank take part in the op (its role and its communicator)?
  [[nodiscard]] bool takes_part(const Op& op, Rank rank) const;
};

// Throws InputError when a placement is not a set of distinct GPUs of the network.
JobGroups make_job_groups(const Schedule& schedule, const std::vector<GpuId>& gpu_of_rank,
                          const Network& network);

}  // namespace amsp
