// SPDX-License-Identifier: Apache-2.0
// Schedules that measure collectives: each between two barriers, over a sweep of kinds, sizes and
// groups. One set of sizes is for the fit, another for the test of the fit.
#pragma once
#include <string>
#include <vector>

#include "exec/testbed_control.hpp"
#include "exec/trace.hpp"
#include "scenarios/validation/ring_model.hpp"
#include "workloads/schedule.hpp"

namespace amsp {

struct BenchmarkCase {
  OpId op;
  std::string group;  // "whole job", "one node", "4 groups across nodes at once" …
  GroupShape shape;
  bool alone = true;  // nothing else on the network meanwhile
};

struct Benchmark {
  Schedule schedule;
  std::vector<BenchmarkCase> cases;
};

// One all-reduce over all ranks: how fast is this network about?
Schedule pilot(const TestbedShape& shape, Bytes bytes);
// Single groups of several shapes, one at a time. `scale`: factor on all sizes.
Benchmark fit_benchmark(const TestbedShape& shape, bool quick, double scale);
// Other sizes; also whole families of groups at once, and two collectives on two streams.
Benchmark test_benchmark(const TestbedShape& shape, bool quick, double scale);

// By instance: the duration of the op (from its last member's readiness to its last member's end;
// the longest of the groups that run it at once). And their median.
std::vector<Seconds> measured_durations(const Schedule& schedule, const ExecTrace& trace, OpId op);
Seconds measured_duration(const Schedule& schedule, const ExecTrace& trace, OpId op);

std::vector<MeasuredCollective> measurements(const Benchmark& benchmark, const ExecTrace& trace);
// CSV that amsp calibrate reads: one row for each measured collective that ran alone.
std::string measurements_csv(const std::vector<MeasuredCollective>& rows);

}  // namespace amsp
