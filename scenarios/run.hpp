// SPDX-License-Identifier: Apache-2.0
// Simulates one run of a scenario and says what it means for its user.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "scenarios/scenario.hpp"
#include "sim/analysis.hpp"
#include "sim/replay.hpp"

namespace amsp {

struct RunResult {
  std::string scenario;
  Strategy strategy;
  int gpus = 0;
  std::int64_t micro_batches = 0;
  Seconds step_time, step_time_low, step_time_high;  // 90 % interval
  double tgs = 0;                                    // tokens per GPU and second
  double mfu = 0;  // Megatron's formula over the GPU's peak for the training's dtype
  MemoryTimeline memory;
  Bytes memory_limit;  // GPU memory less the reserve
  bool fits = false;
  std::string fit_advice;        // when it does not fit: by how much, and what would
  ExposedCommunication exposed;  // means over the repetitions, as the step time
  std::map<std::string, Seconds> exposed_half_width;  // of 90 % intervals; empty for one repetition
  int repetitions = 1;
  std::vector<std::string> notes;                     // what a reader of the figures has to know
  PredictionRange range = PredictionRange::measured;  // the weaker of the two below
  PredictionRange compute_range = PredictionRange::measured;
  PredictionRange collective_range = PredictionRange::measured;
  double price_per_gpu_hour = 0;  // the cluster's, in its currency; 0 = unknown
  Schedule schedule;
  ReplayResult replay;   // of the first repetition
  std::string manifest;  // JSON: version, inputs with hashes, options, seed
};

// The part of a run that does not depend on strategy and training: cluster, network and models for
// a number of GPUs. Simulating is const and may be done from several threads.
class Machine {
 public:
  // As many whole nodes as hold `gpus` GPUs.
  Machine(const ClusterSpec& cluster, const std::string& calibration, int gpus,
          double compute_efficiency = 1);
  Machine(const Scenario& scenario, int gpus);

  [[nodiscard]] const ClusterSpec& cluster() const { return cluster_; }
  [[nodiscard]] const Network& network() const { return *network_; }
  [[nodiscard]] const CollectiveModel& collectives() const { return *collectives_; }
  [[nodiscard]] const ComputeModel& compute() const { return *compute_; }
  // What a reader of every figure has to know of these two.
  [[nodiscard]] std::vector<std::string> notes() const;
  // Throws InputError when the GPUs neither lie in one node nor fill nodes.
  [[nodiscard]] Mesh data_parallel() const { return data_parallel_mesh(cluster_, gpus_); }
  [[nodiscard]] int gpus() const { return gpus_; }

  [[nodiscard]] RunResult simulate(const ModelShape& model, const Training& training,
                                   const Strategy& strategy, const PerturbationSpec& perturbations,
                                   const ReplayOptions& options) const;

 private:
  ClusterSpec cluster_;
  int gpus_;
  std::unique_ptr<CollectiveModel> collectives_;
  std::unique_ptr<ComputeModel> compute_;
  std::unique_ptr<Network> network_;
};

RunResult run_scenario(const Scenario& scenario, int gpus, const ReplayOptions& options);
// The same on a machine that is at hand.
RunResult run_scenario(const Scenario& scenario, const Machine& machine,
                       const ReplayOptions& options);

// JSON of what determines a result: program version, hashes of the inputs, options.
std::string manifest_of(const Scenario& scenario, const ReplayOptions& options);

}  // namespace amsp
