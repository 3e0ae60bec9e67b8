// SPDX-License-Identifier: Apache-2.0
// What a replay means: exposed communication, memory over time.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "sim/replay.hpp"

namespace amsp {

// Time in the reported step in which no compute stream of the rank makes progress, by the kind of
// collective that it waits for (of the slowest rank class). Parts sum to `total`.
struct ExposedCommunication {
  Seconds total;
  std::map<std::string, Seconds>
      by_collective;  // "all_reduce" …; "other" = waits with none running
};
ExposedCommunication exposed_communication(const Schedule& schedule, const ReplayResult& result);

struct MemoryPoint {
  Seconds time;
  Bytes total;
};
struct MemoryTimeline {
  Rank rank;  // that holds most; the slowest rank, where several do
  Bytes peak;
  Seconds peak_time;
  std::map<MemoryComponent, Bytes> at_peak;
  std::vector<MemoryPoint> points;  // of the reported step
};
MemoryTimeline memory_timeline(const Schedule& schedule, const ReplayResult& result);

}  // namespace amsp
