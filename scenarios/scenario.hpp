// SPDX-License-Identifier: Apache-2.0
// A scenario: cluster x model x training x strategy x calibration (docs/formats/scenario.md).
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_value.hpp"
#include "sim/perturbation_spec.hpp"
#include "sim/replay.hpp"
#include "topologies/cluster.hpp"
#include "workloads/model_shape.hpp"
#include "workloads/schedule.hpp"
#include "workloads/strategy.hpp"
#include "workloads/training.hpp"

namespace amsp {

// Which published results a scenario is compared with (scenarios/data/paper_reference.csv).
struct ReferenceKey {
  std::string system;  // "AMSP"
  std::string model;   // "LLaMA-7B"
};

// A file that went into a result, for the manifest.
struct InputFile {
  std::string role;  // "scenario", "cluster", "model", "calibration", …
  std::string name;
  std::string sha256;
};

struct Scenario {
  std::string name;
  std::string description;
  ClusterSpec cluster;
  ModelShape model;
  Training training;
  JsonValue strategy;       // read once the number of GPUs is known
  std::string calibration;  // name or path; empty: the default model
  // Share of the compute model's speed that the job's kernels reach; above 1: they are faster.
  double compute_efficiency = 1;
  std::vector<int> gpus;  // one run each
  PerturbationSpec perturbations;
  std::optional<ReferenceKey> reference;
  // Keys that were set to something else than in the file, so that its reference is of another job
  // and was dropped ("strategy, training"); empty where nothing was dropped.
  std::string reference_lost_by;
  std::vector<InputFile> inputs;
  std::string canonical;  // the scenario as read, with all --set applied
};

// Name or path; `settings` are KEY=VALUE, KEY a dotted path ("training.micro_batch"). The reference
// stays where the settings leave the published job as it was, or say what to compare with.
Scenario load_scenario(std::string_view name_or_path,
                       const std::vector<std::string>& settings = {});
Scenario parse_scenario(const JsonValue& json, std::string_view name);

// GPUs inside a node x nodes. Throws InputError when `gpus` neither fit in one node nor fill nodes.
Mesh data_parallel_mesh(const ClusterSpec& cluster, int gpus);

// The schedule of one training step on this number of GPUs.
Schedule schedule_of(const Scenario& scenario, int gpus);

}  // namespace amsp
