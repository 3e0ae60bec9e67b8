// SPDX-License-Identifier: Apache-2.0
// Random small clusters, schedules and perturbations from a seed.
#pragma once
#include <cstdint>
#include <memory>

#include "toy.hpp"

namespace amsp::toy {

struct CaseOptions {
  bool perturbed = true;    // slow GPUs, degraded links
  bool chain = false;       // one stream
  bool one_group = false;   // all collectives over all ranks: with chain, nothing ever competes
  std::int64_t repeat = 0;  // of the first block; 0: random, 1 to 3
  bool roles = true;
  double scale = 1;  // of all bytes and bandwidths
};

struct Case {
  Case(std::uint64_t seed, const CaseOptions& options);
  ClusterSpec spec;
  Network network;
  RingModel collectives;
  FixedModel compute;
  Schedule schedule;
  Perturbations perturbations;
  [[nodiscard]] ReplayInput input() const {
    return {schedule, network, collectives, compute, {}, perturbations};
  }
};

}  // namespace amsp::toy
