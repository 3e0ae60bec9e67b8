// SPDX-License-Identifier: Apache-2.0
// Predicted against executed on one machine: microbenchmarks → fit → for collectives and for whole
// training steps, the simulator's time and the measured one (docs/model/80-execution.md).
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exec/rank_team.hpp"
#include "exec/testbed_control.hpp"
#include "exec/trace.hpp"
#include "scenarios/validation/ring_model.hpp"
#include "scenarios/validation/steadiness.hpp"
#include "sim/replay.hpp"
#include "workloads/schedule.hpp"

namespace amsp {

struct ValidationOptions {
  TestbedShape shape;
  std::string testbed_name = "validate";
  std::string backend = "gloo";
  std::optional<ClusterSpec> cluster;              // of the hosts' GPUs; needed by nccl
  bool quick = false;                              // a few cases and sizes: under three minutes
  int repetitions = 5;                             // of every microbenchmark; medians are taken
  int steps = 4;                                   // measured steps of each schedule
  Seconds timeout{60};                             // of one execution's standstill
  std::function<void(std::string_view)> progress;  // called before each part; may be empty
};

// error = predicted / measured - 1
struct ComparedTime {
  Seconds predicted, measured;
  double spread = 0;  // half the interquartile range of the measured times over their median
  [[nodiscard]] double error() const { return predicted / measured - 1; }
};

struct ValidatedCollective {
  std::string name;  // "all_reduce of 1.5MiB, one node"
  Bytes bytes;
  bool alone = true;
  ComparedTime time;
};

struct ValidatedSchedule {
  std::string name;
  Schedule schedule;
  ComparedTime step;
  ComparedTime exposed = {};  // time of a step in which the compute stream waits
  std::map<std::string, ComparedTime> collectives;  // by kind and communicator: median duration
  ReplayResult predicted;
  ExecTrace executed;
};

struct ValidationReport {
  std::string machine;
  std::map<CollectiveKind, RingFit> fits;     // empty with nccl: the ordinary calibration then
  std::vector<MeasuredCollective> benchmark;  // what was fitted
  ForeignLoad load;                           // of this machine, while it measured
  // Median error of collectives alone, and largest of a step time, when the simulator uses what
  // amsp calibrate fits to the same rows.
  double calibration_error = 0, calibration_step_error = 0;
  std::vector<ValidatedCollective> collectives;
  std::vector<ValidatedSchedule> schedules;

  // Large enough to count (above 256 KiB).
  [[nodiscard]] static bool counts(const ValidatedCollective& one);
  // Median of the absolute errors of collectives that count: alone, or several at once.
  [[nodiscard]] double median_collective_error(bool alone = true) const;
  [[nodiscard]] double largest_step_error() const;  // absolute
  // The first pair of schedules that is predicted in the other order than it was measured; else
  // empty. Measured times that differ by less than 2 %, or by less than their spreads, are a tie.
  [[nodiscard]] std::string broken_order() const;
};

// Builds the testbed, uses it and takes it down, also when it fails. Throws InputError where there
// are no testbeds, CheckFailed when an execution fails.
ValidationReport validate_on_testbed(const ValidationOptions& options);
// On the hosts of a team. `names`: of its hosts, one for each rank, node by node; empty = as the
// ranks report them. Sizes are scaled to the speed of the network.
ValidationReport validate_on_hosts(const ValidationOptions& options, RankTeam& team, int ranks,
                                   std::vector<std::string> names);

std::string to_json(const ValidationReport& report);
std::string to_table(const ValidationReport& report);
// Chrome trace-event JSON: for each schedule the predicted and the executed step of rank 0, one
// above the other.
std::string validation_timeline(const ValidationReport& report);

}  // namespace amsp
