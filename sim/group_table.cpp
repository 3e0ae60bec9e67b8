// SPDX-License-Identifier: Apache-2.0
#include "sim/group_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.hpp"

namespace amsp {
namespace {

std::vector<GpuId> placement(const Schedule& schedule, const std::vector<GpuId>& given,
                             const ClusterSpec& cluster) {
  const auto world = static_cast<std::size_t>(schedule.world);
  if (given.empty()) {
    if (schedule.world > cluster.gpus())
      throw InputError(fmt::format("schedule \"{}\" needs {} GPUs; the cluster \"{}\" has {}",
                                   schedule.name, schedule.world, cluster.name, cluster.gpus()));
    std::vector<GpuId> gpus;
    gpus.reserve(world);
    for (std::size_t r = 0; r < world; ++r) gpus.emplace_back(r);
    return gpus;
  }
  if (given.size() != world)
    throw InputError(fmt::format("the placement names {} GPUs; schedule \"{}\" has {} ranks",
                                 given.size(), schedule.name, schedule.world));
  std::vector<char> taken(static_cast<std::size_t>(cluster.gpus()));
  for (std::size_t r = 0; r < world; ++r) {
    if (!given[r].valid() || given[r].index >= cluster.gpus())
      throw InputError(fmt::format("placement: rank {} is on GPU {}; the cluster has GPUs 0 to {}",
                                   r, given[r].index, cluster.gpus() - 1));
    char& mine = taken[given[r].position()];
    if (mine)
      throw InputError(fmt::format("placement: GPU {} is given to two ranks", given[r].index));
    mine = 1;
  }
  return given;
}

// Shapes of groups, without counting the same NICs of the same slots again and again.
class Shapes {
 public:
  Shapes(const Network& network, std::vector<GroupShape>& shapes)
      : network_(network), shapes_(shapes) {}

  int of(std::span<const GpuId> gpus) {
    const int per_node = network_.cluster().node.gpus;
    nodes_.clear();
    for (const GpuId gpu : gpus) nodes_.push_back(gpu.index / per_node);
    std::sort(nodes_.begin(), nodes_.end());
    GroupShape shape;
    shape.ranks = static_cast<int>(gpus.size());
    shape.nodes = 0;
    int fullest = -1;
    for (std::size_t i = 0; i < nodes_.size();) {
      std::size_t end = i;
      while (end < nodes_.size() && nodes_[end] == nodes_[i]) ++end;
      const int count = static_cast<int>(end - i);
      if (fullest < 0 || count > shape.ranks_per_node) {
        shape.ranks_per_node = count;
        fullest = nodes_[i];
      }
      ++shape.nodes;
      i = end;
    }
    if (shape.nodes > 1) shape.nics_per_node = nics(gpus, fullest);
    const auto [entry, is_new] = index_.try_emplace(shape, static_cast<int>(shapes_.size()));
    if (is_new) shapes_.push_back(shape);
    return entry->second;
  }

 private:
  int nics(std::span<const GpuId> gpus, int node) {
    const int per_node = network_.cluster().node.gpus;
    slots_.clear();
    for (const GpuId gpu : gpus)
      if (gpu.index / per_node == node) slots_.push_back(gpu.index % per_node);
    const auto found = nics_.find(slots_);
    if (found != nics_.end()) return found->second;
    return nics_[slots_] = static_cast<int>(network_.nics_of(slots_).size());
  }

  const Network& network_;
  std::vector<GroupShape>& shapes_;
  std::map<GroupShape, int> index_;
  std::map<std::vector<int>, int> nics_;
  std::vector<int> nodes_, slots_;
};

GroupTable make_table(const Communicator& communicator, const std::vector<GpuId>& gpu_of_rank,
                      Shapes& shapes) {
  GroupTable table;
  table.group_of.assign(gpu_of_rank.size(), -1);
  table.index_of.assign(gpu_of_rank.size(), -1);
  table.first.push_back(0);
  const int groups = communicator.group_count();
  for (int g = 0; g < groups; ++g) {
    const std::vector<Rank> members = communicator.members(g);
    for (std::size_t i = 0; i < members.size(); ++i) {
      table.members.push_back(members[i]);
      table.gpus.push_back(gpu_of_rank[members[i].position()]);
      table.group_of[members[i].position()] = g;
      table.index_of[members[i].position()] = static_cast<int>(i);
    }
    table.first.push_back(static_cast<int>(table.members.size()));
    table.shape_of.push_back(shapes.of(table.gpus_of(g)));
  }
  return table;
}

}  // namespace

std::span<const Rank> GroupTable::ranks(int group) const {
  const auto g = static_cast<std::size_t>(group);
  return std::span(members).subspan(static_cast<std::size_t>(first[g]),
                                    static_cast<std::size_t>(first[g + 1] - first[g]));
}

std::span<const GpuId> GroupTable::gpus_of(int group) const {
  const auto g = static_cast<std::size_t>(group);
  return std::span(gpus).subspan(static_cast<std::size_t>(first[g]),
                                 static_cast<std::size_t>(first[g + 1] - first[g]));
}

bool JobGroups::takes_part(const Op& op, Rank rank) const {
  if (op.role) {
    const GroupTable& table = tables[op.role->communicator.position()];
    if (table.index_of[rank.position()] != op.role->index) return false;
  }
  return !op.collective ||
         tables[op.collective->communicator.position()].group_of[rank.position()] >= 0;
}

JobGroups make_job_groups(const Schedule& schedule, const std::vector<GpuId>& gpu_of_rank,
                          const Network& network) {
  JobGroups job;
  job.schedule = &schedule;
  job.gpu_of_rank = placement(schedule, gpu_of_rank, network.cluster());
  Shapes shapes(network, job.shapes);
  for (const Communicator& communicator : schedule.communicators)
    job.tables.push_back(make_table(communicator, job.gpu_of_rank, shapes));
  return job;
}

}  // namespace amsp
