// SPDX-License-Identifier: Apache-2.0
// Perturbations as people write them: links and NICs by name, placements by kind
// (docs/formats/perturbations.md). Resolved against a network before a replay.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_value.hpp"
#include "sim/replay.hpp"

namespace amsp {

struct PerturbationSpec {
  struct Degraded {
    std::string name;   // a link ("node3/gpu5->node3/nvswitch") or a NIC ("node3/mlx5_0")
    double factor = 1;  // of its capacity, both directions of a NIC
  };
  std::vector<Perturbations::SlowGpu> slow_gpus;
  std::vector<Degraded> degraded;
  std::vector<std::string> failed;  // links and NICs that are down; traffic goes round them
  double kernel_jitter = 0;
  double link_jitter = 0;
  std::uint64_t seed = 1;
  int repetitions = 1;    // replays with seeds of their own, where something is random
  std::string placement;  // "", "packed", "random", "rail", or a file

  // Whether following seeds give different replays.
  [[nodiscard]] bool random() const {
    return kernel_jitter > 0 || link_jitter > 0 || placement == "random";
  }
  // Replays that are worth doing: one where nothing is random.
  [[nodiscard]] int useful_repetitions() const { return random() ? repetitions : 1; }
  // The same with the seed of a repetition.
  [[nodiscard]] PerturbationSpec with_seed_of(int repetition) const {
    PerturbationSpec spec = *this;
    spec.seed += static_cast<std::uint64_t>(repetition);
    return spec;
  }
};

// A slow GPU or a degraded link has a share of its speed from here to 1: slower would be a failure.
inline constexpr double kLeastShare = 1e-6;

// {"slow_gpus": [{"gpu": 5, "speed": 0.8}], "degraded": [{"name": "node3/mlx5_0", "factor": 0.5}],
//  "failed": ["node3/mlx5_1"], "kernel_jitter": 0.03, "link_jitter": 0.1, "seed": 1, "repetitions":
//  5, "placement": "packed"}
PerturbationSpec parse_perturbations(const JsonValue& json);
// "5=0.8": the number and the factor. Throws InputError naming the option.
Perturbations::SlowGpu parse_slow_gpu(std::string_view text, std::string_view option);
PerturbationSpec::Degraded parse_degraded(std::string_view text, std::string_view option);

// What a replay needs of it.
struct PerturbedNetwork {
  const Network* healthy = nullptr;
  std::optional<Network> without_failed;  // where something failed
  Perturbations perturbations;
  std::vector<GpuId> gpu_of_rank;
  [[nodiscard]] const Network& network() const {
    return without_failed ? *without_failed : *healthy;
  }
};
// `network` must outlive the result. Throws InputError for names that the network does not have
// (with the nearest) and for failures that leave GPUs without a route.
PerturbedNetwork apply(const PerturbationSpec& spec, const Network& network, int ranks);

// What a reader of a result has to know of its perturbations.
std::vector<std::string> notes_on(const PerturbationSpec& spec);

// Whether a placement is a file of the user's.
bool is_placement_file(std::string_view how);
// packed: rank i on GPU i. rail: node by node first (rank i on node i mod N, slot i div N, N the
// fewest nodes that hold the ranks). random: a seeded shuffle of all GPUs of the cluster. Anything
// else: a JSON file with the GPU of each rank.
std::vector<GpuId> make_placement(std::string_view how, int ranks, const ClusterSpec& cluster,
                                  std::uint64_t seed);

}  // namespace amsp
