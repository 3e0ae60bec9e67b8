// SPDX-License-Identifier: Apache-2.0
// A replayed schedule: its step, and the times of its operations on each class of ranks.
#pragma once
#include <string>
#include <vector>

#include "report/link_timeline.hpp"
#include "sim/analysis.hpp"
#include "sim/repetitions.hpp"
#include "topologies/network.hpp"
#include "workloads/schedule.hpp"

namespace amsp {

struct ReplayReport {
  const Schedule& schedule;
  const Network& network;
  const ReplayResult& result;      // of the first repetition
  const RepeatedReplay& repeated;  // means
  Bytes gpu_memory;
  std::vector<std::string> notes = {};
  std::vector<GpuId> gpu_of_rank = {};  // empty = rank i on GPU i
  std::vector<LinkSpan> links = {};     // for write_replay()'s trace
};

// For people: the step, exposed communication, memory, busiest links.
std::string replay_table(const ReplayReport& report);
// {"schedule", "world", "step_time_s", "exposed_communication_s", "peak_memory_bytes",
//  "rank_classes", "ops": [{"name", "rank", "start_s", "end_s", …}]}; times from the start of the
// reported step.
std::string replay_json(const ReplayReport& report);
// One row per operation and class of ranks, in order of start.
std::string replay_csv(const ReplayReport& report);
// replay.json and trace.json.
void write_replay(const ReplayReport& report, const std::string& directory);

}  // namespace amsp
