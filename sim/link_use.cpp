// SPDX-License-Identifier: Apache-2.0
#include "sim/link_use.hpp"

namespace amsp {

std::vector<LinkUse> link_use(const Problem& problem, const ReplayResult& result) {
  std::vector<LinkUse> uses(problem.links.size());
  std::vector<double> wire(problem.links.size());
  for (const FoldedGroup& group : problem.groups) {
    if (group.job != 0) continue;
    const ProblemJob& job = problem.jobs.front();
    std::vector<std::int64_t> runs(group.cost_of.size());
    for (std::size_t b = 0; b < group.lane.positions.size(); ++b)
      for (const int position : group.lane.positions[b])
        runs[job.schedule->blocks[b].ops[static_cast<std::size_t>(position)].position()] +=
            job.program.repeat(static_cast<int>(b));
    for (std::size_t o = 0; o < runs.size(); ++o) {
      if (runs[o] == 0) continue;
      const CollectiveCost& cost = problem.costs[static_cast<std::size_t>(group.cost_of[o])];
      if (cost.loads < 0) continue;
      const double flow = cost.flow.value() * static_cast<double>(runs[o]);
      for (const ClassLoad& load : problem.loads[static_cast<std::size_t>(cost.loads)]) {
        uses[load.link.position()].carried += Bytes(flow * load.load);
        wire[load.link.position()] += flow * load.load * cost.stretch;
      }
    }
  }
  std::vector<LinkUse> busy;
  for (std::size_t l = 0; l < uses.size(); ++l) {
    if (uses[l].carried <= Bytes{}) continue;
    uses[l].link = problem.links[l].representative;
    uses[l].members = problem.links[l].members;
    uses[l].busy = wire[l] / (problem.links[l].capacity * result.step_time).value();
    busy.push_back(uses[l]);
  }
  return busy;
}

}  // namespace amsp
