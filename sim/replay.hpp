// SPDX-License-Identifier: Apache-2.0
// Replays a schedule on a simulated cluster.
#pragma once
#include <algorithm>
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
  // Step time only, for many replays: stops once a step repeats the one before it, and records the
  // first rank only. Replays in full where ranks do not end their steps together.
  bool fold_steps = false;
  int steps = 3;               // training steps; the last period is reported
  bool implied_links = false;  // report also links that cannot be the bottleneck
};

// What breaks the symmetry (scenario, command line). Ranks not named are healthy.
struct Perturbations {
  struct SlowGpu {
    GpuId gpu;
    double speed;  // 0.8 = kernels take 1/0.8 of the time
  };
  struct ScaledLink {
    LinkId link;
    double factor;  // of its capacity; > 0. A failed link is one that the network itself excludes.
  };
  std::vector<SlowGpu> slow_gpus;
  std::vector<ScaledLink> links;
  double kernel_jitter = 0;  // standard deviation of a log-normal factor per kernel and rank
  double link_jitter = 0;    // the same on the wire bytes of each collective
  std::uint64_t seed = 1;
};

// "What if this were infinitely fast": for `amsp explain`.
struct Idealised {
  bool compute = false;
  bool latency = false;         // of collectives
  std::vector<LinkKind> links;  // links of these kinds
};

// Times of one instance of an op on one rank (the representative of a class when folded).
struct OpRecord {
  OpId op;
  Rank rank;
  int step = 0;
  int block = 0;
  std::int64_t repetition = 0;  // of its block
  Seconds ready;                // its dependencies and its stream were ready
  Seconds start, end;           // a collective starts when its last member is ready
};

// Repetitions that were not replayed because they would repeat the one before them: `count` times
// the records of [from, from + period), shifted by period, 2 period, …
struct SkippedRepetitions {
  int step = 0;
  int block = 0;
  std::int64_t first = 0;  // repetition of the block
  std::int64_t count = 0;
  Seconds from;  // begin of the last replayed period
  Seconds period;
};

struct RankClass {
  Rank representative;
  int members = 1;
};

struct LinkUse {
  LinkId link;  // representative
  int members = 1;
  Bytes carried;         // in the reported period, by the representative
  Bytes others;          // of it, for other jobs
  double busy = 0;       // average utilisation over the period (wire bytes over capacity)
  bool implied = false;  // cannot be the bottleneck (docs/model/60-folding.md)
};

// A finished collective of another job, by its classes in the problem.
struct OtherTransfer {
  int group = 0, cost = 0;
  Seconds start, end;
};

struct ReplayResult {
  Seconds step_time;              // last period
  Seconds period_start;           // of the reported step in the records
  std::vector<OpRecord> records;  // all replayed instances, in order of start
  std::vector<SkippedRepetitions> skipped;
  std::vector<RankClass> rank_classes;
  std::vector<int> class_of_rank;  // by rank: position in rank_classes
  std::vector<LinkUse> links;      // those that carry anything
  int link_classes = 0;
  std::vector<OtherTransfer> others;
  std::int64_t events = 0;  // engine iterations (a measure of cost)
  bool repeats_folded = false;
  // The weakest of any estimate used for kernels, and for collectives.
  PredictionRange compute_range = PredictionRange::measured;
  PredictionRange collective_range = PredictionRange::measured;
  [[nodiscard]] PredictionRange range() const { return std::max(compute_range, collective_range); }
  double relative_uncertainty = 0;  // half width of the 90 % interval of step_time
};

// Another job on the same fabric; it repeats its step until the main job has ended. No stream of it
// runs more than one step ahead of its slowest.
struct BackgroundJob {
  const Schedule& schedule;
  std::vector<GpuId> gpu_of_rank;
};

// `gpu_of_rank`: placement; empty = rank i on GPU i.
struct ReplayInput {
  const Schedule& schedule;
  const Network& network;
  const CollectiveModel& collectives;
  const ComputeModel& compute;
  std::vector<GpuId> gpu_of_rank = {};
  Perturbations perturbations = {};
  std::vector<BackgroundJob> background = {};
  Idealised idealised = {};
};

// Throws InputError when the schedule needs more GPUs than the network has, or deadlocks (the
// message names the ops that wait for each other).
ReplayResult replay(const ReplayInput& input, const ReplayOptions& options);

}  // namespace amsp
