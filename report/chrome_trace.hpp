// SPDX-License-Identifier: Apache-2.0
// One simulated step as Chrome trace-event JSON, which Perfetto and chrome://tracing open
// (docs/formats/chrome-trace.md): a process for each class of ranks with a thread for each
// stream, a process with a thread for each class of links, counters for memory and link load, and
// arrows between operations that wait for each other across streams.
#pragma once
#include <string>
#include <vector>

#include "base/id.hpp"
#include "report/link_timeline.hpp"
#include "sim/analysis.hpp"
#include "sim/replay.hpp"
#include "topologies/network.hpp"
#include "workloads/schedule.hpp"

namespace amsp {

struct TraceInput {
  const Schedule& schedule;
  const ReplayResult& result;
  const MemoryTimeline& memory;         // of the rank class that the memory counter shows
  const Network* network = nullptr;     // names the links; without it they have numbers
  std::vector<GpuId> gpu_of_rank = {};  // empty = rank i on GPU i
  std::vector<LinkSpan> links = {};     // from link_timeline(); may be empty
};

// Operations that start in the reported period [period_start, period_start + step_time). Times are
// microseconds from the start of the period, in ascending order; durations are not negative.
std::string chrome_trace(const TraceInput& input);

}  // namespace amsp
