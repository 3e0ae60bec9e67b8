// SPDX-License-Identifier: Apache-2.0
// What is to be executed: a schedule, and how.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.hpp"
#include "base/quantity.hpp"
#include "workloads/schedule.hpp"

namespace amsp {

enum class ComputeMode {
  real,  // the kernels' arithmetic is done
  timed  // a device is emulated: the stream is held for the op's duration
};
std::string_view name_of(ComputeMode mode);
ComputeMode parse_compute_mode(std::string_view text);

struct ExecOptions {
  std::string backend = "gloo";
  ComputeMode compute = ComputeMode::timed;
  int warmup = 1;       // steps run before the measured ones
  int steps = 3;        // measured steps; medians over them are reported
  bool check = false;   // fresh data before every collective, its result checked after
  Seconds timeout{60};  // a job in which nothing ends for so long is given up
};

struct ExecJob {
  Schedule schedule;
  // Durations of the compute ops for ComputeMode::timed, by op; empty = the sum of their
  // kernels, which then must all be of class `fixed`.
  std::vector<Seconds> durations;
  ExecOptions options;
  // Called by a rank before each op that it runs. For tests of failures; empty otherwise.
  std::function<void(Rank, OpId)> before_op;
};

// Throws InputError when it cannot run so: a schedule that is wrong, an op without a duration.
void check_job(const ExecJob& job);

// Time for which an emulated device holds the op's stream.
Seconds duration_of(const ExecJob& job, OpId op);

// Ranks that disagree on this digest of schedule, durations and options must not start together.
std::string digest_of(const ExecJob& job);

}  // namespace amsp
