// SPDX-License-Identifier: Apache-2.0
// neutral_allreduce RANKS [ENGINE] and neutral_zero3 RANKS [ENGINE]: replays a neutral workload
// once and prints its time; with ENGINE "schedule" prints the schedule file instead. ENGINE:
// folded (default), unfolded, simgrid.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "neutral_schedules.hpp"
#include "sim/replay.hpp"

using namespace amsp;

int main(int argc, char** argv) {
  const int ranks = argc > 1 ? std::atoi(argv[1]) : 0;
  const std::string engine = argc > 2 ? argv[2] : "folded";
  if (ranks < 8 || ranks % 8 != 0) {
    std::fputs("usage: RANKS (a multiple of 8) [folded|unfolded|simgrid|schedule]\n", stderr);
    return 2;
  }
  const Schedule schedule = neutral::NEUTRAL_WORKLOAD(ranks);
  if (engine == "schedule") {
    std::fputs(to_json(schedule).c_str(), stdout);
    return 0;
  }
  const ClusterSpec cluster = neutral::cluster(ranks);
  const Network network = neutral::network(cluster);
  const neutral::RingBandwidth collectives(cluster);
  const neutral::FixedKernels compute;
  if (engine != "folded" && engine != "unfolded" && engine != "simgrid") {
    fmt::print(stderr, "\"{}\" is no engine; accepted: folded, unfolded, simgrid\n", engine);
    return 2;
  }
  ReplayOptions options;
  options.engine = engine == "simgrid" ? EngineKind::simgrid : EngineKind::fluid;
  options.folded = engine == "folded";
  options.steps = 1;
  const ReplayResult result = replay({schedule, network, collectives, compute}, options);
  fmt::print("{} on {} ranks ({}): {:.9g} s, {} rank classes, {} link classes\n", schedule.name,
             ranks, engine, result.step_time.value(), result.rank_classes.size(),
             result.link_classes);
  return 0;
}
