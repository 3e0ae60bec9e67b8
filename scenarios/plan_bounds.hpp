// SPDX-License-Identifier: Apache-2.0
// What can be said of a candidate before it is simulated, cheapest first
// (docs/model/90-planner.md).
#pragma once
#include <map>
#include <utility>

#include "scenarios/planner.hpp"

namespace amsp {

// Memory that every replay of a schedule holds at some instant: what persists, plus what the
// compute stream has allocated and not yet freed at some op (its order is fixed).
Bytes memory_bound(const Schedule& schedule);

// Bounds without a schedule of the candidate: computation and activations of a micro-batch do not
// depend on the meshes, so one schedule for each micro-batch size and recompute setting serves all.
class QuickBounds {
 public:
  QuickBounds(const PlanRequest& request, const Machine& machine);

  [[nodiscard]] Seconds time(const PlanCandidate& candidate) const;
  [[nodiscard]] Bytes memory(const PlanCandidate& candidate) const;

 private:
  struct Pass {
    Seconds computation;  // of a micro-batch
    Bytes activations;    // at their peak, with the logits
  };
  [[nodiscard]] const Pass& pass(const PlanCandidate& candidate) const;

  const PlanRequest& request_;
  std::map<std::pair<std::int64_t, Recompute>, Pass> passes_;
  Bytes parameters_;  // all of them, in the training's dtype
};

}  // namespace amsp
