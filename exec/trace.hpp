// SPDX-License-Identifier: Apache-2.0
// What an execution measured (docs/formats/exec-trace.md): when each instance of each op ran on
// each rank. Times are seconds on one clock, from the first readiness in a measured step.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/id.hpp"
#include "base/quantity.hpp"
#include "exec/job.hpp"
#include "exec/program.hpp"

namespace amsp {

struct OpTime {
  Seconds ready;  // its stream and its dependencies were ready on this rank
  Seconds end;
};

// Times of one rank, by op and instance (step * repeat + repetition); instances that the rank does
// not run stay zero. Warm-up steps come first.
using RankTimes = std::vector<std::vector<OpTime>>;

struct ExecRecord {
  OpId op;
  Rank rank;
  int step = 0;  // of the measured ones, from 0
  std::int64_t repetition = 0;
  Seconds ready;
  Seconds start;  // a collective starts when the last member of its group is ready
  Seconds end;
};

struct ExecTrace {
  std::string schedule;  // its name
  std::string digest;    // of the job
  std::string backend;
  int ranks = 1;
  std::vector<ExecRecord> records;  // by rank, then in order of start
  std::vector<Seconds> step_times;  // from one step's last end to the next one's
  Seconds step_time;                // their median
};

// Joins the times of all ranks; those of warm-up steps are dropped.
ExecTrace make_trace(const ExecJob& job, const std::vector<RankTimes>& ranks);
// Also opens in Perfetto and chrome://tracing: a process for each rank, a thread for each stream.
std::string to_json(const Schedule& schedule, const ExecTrace& trace);

// For the wire between a rank and the coordinator.
std::string pack(const RankTimes& times);
RankTimes unpack(const std::string& bytes);

}  // namespace amsp
