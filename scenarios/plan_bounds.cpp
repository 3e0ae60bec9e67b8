// SPDX-License-Identifier: Apache-2.0
#include "scenarios/plan_bounds.hpp"

#include <algorithm>

#include "workloads/generator.hpp"

namespace amsp {
namespace {

// The greatest sum that the ops of the compute stream have allocated and not yet freed.
Bytes computing_peak(const Schedule& schedule) {
  const auto counted = [](MemoryComponent component) {
    return component == MemoryComponent::activations || component == MemoryComponent::logits ||
           component == MemoryComponent::temporaries;
  };
  Bytes held, peak;
  for (const Block& block : schedule.blocks)
    for (const OpId id : block.ops) {
      const Op& op = schedule.op(id);
      if (!schedule.streams[op.stream.position()].compute || op.role) continue;
      for (const bool at_start : {true, false}) {
        for (const MemoryChange& change : op.memory)
          if (change.at_start == at_start && counted(change.component)) held += change.delta;
        peak = std::max(peak, held);
      }
    }
  return peak;
}

// Forward and backward kernels of the compute stream.
Seconds computation(const Schedule& schedule, const ComputeModel& compute) {
  Seconds sum;
  for (const Op& op : schedule.ops) {
    const bool training = op.phase == Phase::forward || op.phase == Phase::backward;
    if (!training || !schedule.streams[op.stream.position()].compute) continue;
    for (const Kernel& kernel : op.kernels) sum += compute.estimate(kernel).time;
  }
  return sum;
}

}  // namespace

Bytes memory_bound(const Schedule& schedule) {
  Bytes held = computing_peak(schedule);
  for (const PersistentMemory& part : schedule.persistent) held += part.bytes;
  return held;
}

QuickBounds::QuickBounds(const PlanRequest& request, const Machine& machine)
    : request_(request),
      parameters_(size_of(request.training.dtype) * parameter_count(request.model)) {
  for (const PlanCandidate& candidate : plan_candidates(request)) {
    const auto [entry, is_new] =
        passes_.try_emplace({candidate.micro_batch, candidate.recompute}, Pass{});
    if (!is_new) continue;
    // One micro-batch, nothing sharded: no gradients are added up, nothing is gathered.
    Training training = training_of(request, candidate);
    training.global_batch = candidate.micro_batch * request.gpus;
    Schedule schedule = generate_schedule(
        request.model, training, strategy_of({{}, candidate.micro_batch, candidate.recompute}),
        machine.data_parallel());
    for (Op& op : schedule.ops)
      if (op.phase == Phase::optimizer) op.memory.clear();
    entry->second = {computation(schedule, machine.compute()), computing_peak(schedule)};
  }
}

const QuickBounds::Pass& QuickBounds::pass(const PlanCandidate& candidate) const {
  return passes_.at({candidate.micro_batch, candidate.recompute});
}

Seconds QuickBounds::time(const PlanCandidate& candidate) const {
  return pass(candidate).computation * static_cast<double>(request_.training.global_batch /
                                                           (candidate.micro_batch * request_.gpus));
}

Bytes QuickBounds::memory(const PlanCandidate& candidate) const {
  const MeshChoice& meshes = candidate.meshes;
  const double owned = parameter_count(request_.model) / meshes.optimizer.size();
  const Bytes gradients = parameters_ / meshes.gradients.size();
  // Adam: 12 bytes for an owned parameter, 8 more while it runs, and all gradients are there.
  const Bytes held = parameters_ / meshes.parameters.size() + Bytes(12 * owned);
  const std::int64_t steps =
      request_.training.global_batch / (candidate.micro_batch * request_.gpus);
  // From the third micro-batch on, those of the first are complete.
  const Bytes accumulated = steps >= 3 ? gradients : Bytes(0);
  return held + std::max(Bytes(8 * owned) + gradients, pass(candidate).activations + accumulated);
}

}  // namespace amsp
