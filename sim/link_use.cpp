// SPDX-License-Identifier: Apache-2.0
#include "sim/link_use.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace amsp {
namespace {

// Unit-flow bytes of a group class, by cost, in the reported period.
struct Moved {
  int group = 0;
  const CollectiveCost* cost = nullptr;
  double flow = 0;
};

void add_main_job(const Problem& problem, std::vector<Moved>& all) {
  const ProblemJob& job = problem.jobs.front();
  for (std::size_t g = 0; g < problem.groups.size(); ++g) {
    const FoldedGroup& group = problem.groups[g];
    if (group.job != 0) continue;
    std::vector<std::int64_t> runs(group.cost_of.size());
    for (std::size_t b = 0; b < group.lane.positions.size(); ++b)
      for (const int position : group.lane.positions[b])
        runs[job.schedule->blocks[b].ops[static_cast<std::size_t>(position)].position()] +=
            job.program.repeat(static_cast<int>(b));
    for (std::size_t o = 0; o < runs.size(); ++o) {
      if (runs[o] == 0) continue;
      const CollectiveCost& cost = problem.costs[static_cast<std::size_t>(group.cost_of[o])];
      if (cost.loads >= 0)
        all.push_back(
            {static_cast<int>(g), &cost, cost.flow.value() * static_cast<double>(runs[o])});
    }
  }
}

void add_other_jobs(const Problem& problem, const ReplayResult& result, std::vector<Moved>& all) {
  const Seconds begin = result.period_start;
  const Seconds end = begin + result.step_time;
  for (const OtherTransfer& transfer : result.others) {
    const Seconds inside = std::min(end, transfer.end) - std::max(begin, transfer.start);
    if (inside <= Seconds{}) continue;
    const CollectiveCost& cost = problem.costs[static_cast<std::size_t>(transfer.cost)];
    all.push_back(
        {transfer.group, &cost, cost.flow.value() * (inside / (transfer.end - transfer.start))});
  }
}

std::vector<Moved> moved(const Problem& problem, const ReplayResult& result) {
  std::vector<Moved> all;
  add_main_job(problem, all);
  add_other_jobs(problem, result, all);
  return all;
}

// Bytes on one link.
struct Carried {
  double payload = 0, others = 0, wire = 0;
  void add(const Moved& move, double load, bool main) {
    payload += move.flow * load;
    if (!main) others += move.flow * load;
    wire += move.flow * load * move.cost->stretch;
  }
  [[nodiscard]] LinkUse use(LinkId link, int members, Bandwidth capacity, Seconds period) const {
    return {link, members, Bytes(payload), Bytes(others), wire / (capacity * period).value()};
  }
};

}  // namespace

std::vector<LinkUse> link_use(const Problem& problem, const ReplayResult& result) {
  std::vector<Carried> links(problem.links.size());
  for (const Moved& move : moved(problem, result)) {
    const bool main = problem.groups[static_cast<std::size_t>(move.group)].job == 0;
    for (const ClassLoad& load : problem.loads[static_cast<std::size_t>(move.cost->loads)])
      links[load.link.position()].add(move, load.load, main);
  }
  std::vector<LinkUse> uses;
  for (std::size_t l = 0; l < links.size(); ++l) {
    const FoldedLink& link = problem.links[l];
    if (links[l].payload > 0)
      uses.push_back(
          links[l].use(link.representative, link.members, link.capacity, result.step_time));
  }
  return uses;
}

void add_implied_links(const Unfolded& unfolded, const Partition& partition, const Problem& problem,
                       ReplayResult& result) {
  using Pattern = std::pair<std::size_t, int>;  // job, pattern
  std::map<Pattern, std::map<int, std::vector<Moved>>> by_group;
  for (const Moved& move : moved(problem, result)) {
    const auto job =
        static_cast<std::size_t>(problem.groups[static_cast<std::size_t>(move.group)].job);
    auto& list = by_group[{job, move.cost->pattern}][move.group];
    const auto same = std::find_if(list.begin(), list.end(), [&](const Moved& other) {
      return other.cost->stretch == move.cost->stretch;
    });
    if (same == list.end())
      list.push_back(move);
    else
      same->flow += move.flow;
  }
  std::vector<Carried> links(unfolded.capacity.size());
  for (const auto& [key, groups] : by_group) {
    const auto& [job, number] = key;
    const TrafficPattern& pattern =
        unfolded.traffic[job].patterns[static_cast<std::size_t>(number)];
    const std::size_t first = unfolded.first_group[job][pattern.communicator.position()];
    for (std::size_t g = 0; g + 1 < pattern.first.size(); ++g) {
      const auto found = groups.find(partition.group_class[first + g]);
      if (found == groups.end()) continue;
      for (const LinkLoad& load : pattern.loads_of(static_cast<int>(g)))
        if (partition.link_class[load.link.position()] < 0)
          for (const Moved& move : found->second)
            links[load.link.position()].add(move, load.load, job == 0);
    }
  }
  std::map<std::tuple<double, float, float>, std::size_t> known;  // floats: sums in another order
  for (std::size_t l = 0; l < links.size(); ++l) {
    if (links[l].payload <= 0) continue;
    const auto [entry, is_new] =
        known.try_emplace({unfolded.capacity[l].value(), static_cast<float>(links[l].payload),
                           static_cast<float>(links[l].wire)},
                          result.links.size());
    if (is_new) {
      result.links.push_back(links[l].use(LinkId(l), 1, unfolded.capacity[l], result.step_time));
      result.links.back().implied = true;
    } else {
      ++result.links[entry->second].members;
    }
  }
}

}  // namespace amsp
