// SPDX-License-Identifier: Apache-2.0
// Random small clusters, schedules and perturbations from a seed.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>

#include "toy.hpp"

namespace amsp::toy {

struct CaseOptions {
  bool perturbed = true;    // slow GPUs, degraded links
  bool chain = false;       // one stream
  bool one_group = false;   // all collectives over all ranks: with chain, nothing ever competes
  std::int64_t repeat = 0;  // of the first block; 0: random, 1 to 3
  bool roles = true;
  double scale = 1;         // of all bytes and bandwidths
  bool placed = false;      // any placement, on any part of the cluster; failed links and NICs
  bool second_job = false;  // with `placed`: another job on the rest of the cluster
  bool jitter = false;
};

struct Case {
  Case(std::uint64_t seed, const CaseOptions& options);
  Case(const Case&) = delete;  // input() refers to its own parts
  Case& operator=(const Case&) = delete;
  ClusterSpec spec;
  Network network;
  RingModel collectives;
  FixedModel compute;
  Schedule schedule;
  Perturbations perturbations;
  std::vector<GpuId> gpu_of_rank;
  std::optional<Schedule> other;
  std::vector<GpuId> gpu_of_other;
  [[nodiscard]] ReplayInput input() const {
    ReplayInput input{schedule, network, collectives, compute, gpu_of_rank, perturbations};
    if (other) input.background.push_back({*other, gpu_of_other});
    return input;
  }
};

}  // namespace amsp::toy
