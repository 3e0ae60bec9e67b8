// SPDX-License-Identifier: Apache-2.0
// Replays a schedule on a simulated cluster.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.hpp"
#include "base/quantity.hpp"
#include "calibrate/collective_model.hpp"
#include "calibrate/compute_model.hpp"
#include "topologies/network.hpp"
#include "workloads/schedule.hpp"

namespace amsp {

enum class EngineKind { fluid, simgrid };

struct ReplayOptions {
  EngineKind engine = EngineKind::fluid;
  bool folded = true;        // fluid: one representative per class
  bool messages = false;     // simgrid: every ring or tree step is a communication
  bool fold_repeats = true;  // stop replaying a repeated block once it is periodic
  int steps = 3;             // training steps; the last period is reported
};

// What breaks the symmetry (scenario, command line). Ranks not named are healthy.
struct Perturbations {
  struct SlowGpu {
    GpuId gpu;
    double speed;  // 0.8 = kernels take 1/0.8 of the time
  };
  std::vector<SlowGpu> slow_gpus;
  double kernel_jitter = 0;  // standard deviation of a log-normal factor per kernel and rank
  std::uint64_t seed = 1;
};

// Times of one instance of an op on one rank (the representative of a class when folded).
struct OpRecord {
  OpId op;
  Rank rank;
  int step = 0;
  std::int64_t repetition = 0;  // of its block
  Seconds ready;                // its dependencies and its stream were ready
  Seconds start, end;           // a collective starts when its last member is ready
};

struct RankClass {
  Rank representative;
  int members = 1;
};

struct LinkUse {
  LinkId link;  // representative
  int members = 1;
  Bytes carried;    // in the reported period, by the representative
  double busy = 0;  // average utilisation over the period
};

struct ReplayResult {
  Seconds step_time;              // last period
  Seconds period_start;           // of the reported step in the records
  std::vector<OpRecord> records;  // all replayed instances, in order of start
  std::vector<RankClass> rank_classes;
  std::vector<LinkUse> links;
  int link_classes = 0;
  std::int64_t events = 0;  // engine iterations (a measure of cost)
  bool repeats_folded = false;
  PredictionRange range = PredictionRange::measured;  // the weakest of any estimate used
  double relative_uncertainty = 0;  // half width of the 90 % interval of step_time
};

// `gpu_of_rank`: placement; empty = rank i on GPU i.
struct ReplayInput {
  const Schedule& schedule;
  const Network& network;
  const CollectiveModel& collectives;
  const ComputeModel& compute;
  std::vector<GpuId> gpu_of_rank;
  Perturbations perturbations;
};

// Throws InputError when the schedule needs more GPUs than the network has, or deadlocks (the
// message names the ops that wait for each other).
ReplayResult replay(const ReplayInput& input, const ReplayOptions& options);

}  // namespace amsp
