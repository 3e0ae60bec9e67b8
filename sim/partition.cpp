// SPDX-License-Identifier: Apache-2.0
#include "sim/partition.hpp"

#include <fmt/format.h>

#include <numeric>

#include "base/error.hpp"

namespace amsp {
namespace {

void add_job(Unfolded& all, const ReplayInput& input, const Schedule& schedule,
             const std::vector<GpuId>& gpu_of_rank) {
  all.jobs.push_back(make_job_groups(schedule, gpu_of_rank, input.network));
  const JobGroups& job = all.jobs.back();
  all.traffic.push_back(make_traffic_table(job, input.network, input.collectives));
  all.first_rank.push_back(all.ranks);
  all.ranks += job.gpu_of_rank.size();
  auto& first = all.first_group.emplace_back();
  for (const GroupTable& table : job.tables) {
    first.push_back(all.groups);
    all.groups += static_cast<std::size_t>(table.groups());
  }
}

void check_disjoint(const Unfolded& all) {
  std::vector<char> taken(all.speed.size());
  for (const JobGroups& job : all.jobs)
    for (const GpuId gpu : job.gpu_of_rank) {
      if (taken[gpu.position()])
        throw InputError(
            fmt::format("two jobs use GPU {}; give each its own placement", gpu.index));
      taken[gpu.position()] = 1;
    }
}

}  // namespace

Unfolded unfold(const ReplayInput& input) {
  Unfolded all;
  all.network = &input.network;
  add_job(all, input, input.schedule, input.gpu_of_rank);
  for (const BackgroundJob& job : input.background)
    add_job(all, input, job.schedule, job.gpu_of_rank);
  all.speed.assign(static_cast<std::size_t>(input.network.cluster().gpus()), 1.0);
  check_disjoint(all);
  for (const Perturbations::SlowGpu& slow : input.perturbations.slow_gpus) {
    if (!slow.gpu.valid() || slow.gpu.position() >= all.speed.size())
      throw InputError(fmt::format("there is no GPU {}; the cluster has GPUs 0 to {}",
                                   slow.gpu.index, all.speed.size() - 1));
    if (!(slow.speed > 0)) throw InputError("the speed of a slow GPU must be above 0");
    all.speed[slow.gpu.position()] *= slow.speed;
  }
  for (const Link& link : input.network.links()) {
    bool ideal = false;
    for (const LinkKind kind : input.idealised.links) ideal = ideal || kind == link.kind;
    // Large enough never to bind, small enough to keep quotients finite.
    all.capacity.push_back(ideal ? link.capacity * 1e9 : link.capacity);
  }
  for (const Perturbations::ScaledLink& scaled : input.perturbations.links) {
    if (!scaled.link.valid() || scaled.link.position() >= all.capacity.size())
      throw InputError(fmt::format("there is no link {}", scaled.link.index));
    if (!(scaled.factor > 0)) throw InputError("the factor of a degraded link must be above 0");
    all.capacity[scaled.link.position()] *= scaled.factor;
  }
  return all;
}

Partition trivial_partition(const Unfolded& all) {
  Partition partition;
  partition.rank_class.resize(all.ranks);
  std::iota(partition.rank_class.begin(), partition.rank_class.end(), 0);
  partition.group_class.resize(all.groups);
  std::iota(partition.group_class.begin(), partition.group_class.end(), 0);
  partition.rank_classes = static_cast<int>(all.ranks);
  partition.group_classes = static_cast<int>(all.groups);
  partition.link_class.assign(all.capacity.size(), -1);
  for (const TrafficTable& table : all.traffic)
    for (const TrafficPattern& pattern : table.patterns)
      for (const LinkLoad& load : pattern.loads) partition.link_class[load.link.position()] = 0;
  for (int& link : partition.link_class)
    if (link == 0) link = partition.link_classes++;
  return partition;
}

}  // namespace amsp
