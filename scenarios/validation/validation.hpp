// SPDX-License-Identifier: Apache-2.0
// Predicted against executed on one machine: microbenchmarks → fit → for collectives and for whole
// training steps, the simulator's time and the measured one (docs/model/80-execution.md).
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "exec/testbed_control.hpp"
#include "exec/trace.hpp"
#include "scenarios/validation/ring_model.hpp"
#include "sim/replay.hpp"
#include "workloads/schedule.hpp"

namespace amsp {

struct ValidationOptions {
  TestbedShape shape;
  std::string testbed_name = "validate";
  bool quick = false;                              // a few cases and sizes: under three minutes
  int repetitions = 5;                             // of every microbenchmark; medians are taken
  int steps = 4;                                   // measured steps of each schedule
  Seconds timeout{60};                             // of one execution's standstill
  std::function<void(std::string_view)> progress;  // called before each part; may be empty
};

// error = predicted / measured - 1
struct ComparedTime {
  Seconds predicted, measured;
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
  ComparedTime exposed;  // time of a step in which the compute stream waits
  std::map<std::string, ComparedTime> collectives;  // by kind and communicator: median duration
  ReplayResult predicted;
  ExecTrace executed;
};

struct ValidationReport {
  std::string machine;
  std::map<CollectiveKind, RingFit> fits;
  std::vector<ValidatedCollective> collectives;
  std::vector<ValidatedSchedule> schedules;

  // Median of the absolute errors of collectives alone, above 256 KiB.
  [[nodiscard]] double median_collective_error() const;
  [[nodiscard]] double largest_step_error() const;  // absolute
  // Whether schedules whose measured times differ by more than `tolerance` are predicted in the
  // order in which they were measured; the first pair that is not, else empty.
  [[nodiscard]] std::string broken_order(double tolerance) const;
};

// Builds the testbed, uses it and takes it down, also when it fails. Throws InputError where there
// are no testbeds, CheckFailed when an execution fails.
ValidationReport validate_on_testbed(const ValidationOptions& options);

std::string to_json(const ValidationReport& report);
std::string to_table(const ValidationReport& report);
// Chrome trace-event JSON: for each schedule the predicted and the executed step of rank 0, one
// above the other.
std::string validation_timeline(const ValidationReport& report);

}  // namespace amsp
