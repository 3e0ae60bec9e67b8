// SPDX-License-Identifier: Apache-2.0
#include "workloads/micro_batch_pass.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace amsp {
namespace {

std::vector<int> forward_order(const Job& job) {
  std::vector<int> order(job.modules.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

std::vector<int> backward_order(const Job& job) {
  std::vector<int> order = forward_order(job);
  std::reverse(order.begin(), order.end());
  // A recomputed layer uses its modules in forward order first.
  if (job.training.recompute == Recompute::full)
    for (auto begin = order.begin(); begin != order.end();) {
      const int layer = job.modules[static_cast<std::size_t>(*begin)].layer;
      auto end = std::find_if(begin, order.end(), [&](int module) {
        return job.modules[static_cast<std::size_t>(module)].layer != layer;
      });
      if (layer >= 0) std::reverse(begin, end);
      begin = end;
    }
  return order;
}

void allocate(Op& op, MemoryComponent component, Bytes bytes) {
  if (bytes > Bytes(0)) op.memory.push_back({component, bytes, true});
}

void release(Op& op, MemoryComponent component, Bytes bytes) {
  if (bytes > Bytes(0)) op.memory.push_back({component, -bytes, false});
}

// The logits and their gradient pass between head and loss; all else is activations.
MemoryComponent gradient_component(const Stage& stage, bool incoming) {
  const bool logits = incoming ? stage.name == "head" : stage.name == "loss";
  return logits ? MemoryComponent::logits : MemoryComponent::activations;
}

// What full recompute keeps of a layer: 2 b s h (InternEvo mem.py).
Bytes layer_input(const Job& job) {
  const double tokens =
      static_cast<double>(job.training.micro_batch * job.training.sequence_length);
  return size_of(job.training.dtype) * tokens * static_cast<double>(job.model.hidden);
}

MemoryComponent saved_component(const Stage& stage) {
  return stage.name == "loss" ? MemoryComponent::logits : MemoryComponent::activations;
}

}  // namespace

MicroBatchPass::MicroBatchPass(const Job& job, ScheduleBuilder& builder, MicroBatch micro_batch)
    : job_(job),
      builder_(builder),
      forward_gathers_(job, builder, Phase::forward, forward_order(job)),
      backward_gathers_(job, builder, Phase::backward, backward_order(job)),
      reducer_(job, builder, micro_batch) {}

void MicroBatchPass::build() {
  forward();
  backward();
  reducer_.finish();
}

bool MicroBatchPass::recomputed(const Stage& stage) const {
  return job_.training.recompute == Recompute::full && stage.layer >= 0;
}

Op MicroBatchPass::op(const Stage& stage, Phase phase, const std::string& suffix,
                      const std::vector<Kernel>& kernels) const {
  Op op;
  if (stage.layer >= 0) op.name = fmt::format("l{}.", stage.layer);
  op.name += stage.name + suffix;
  op.phase = phase;
  op.layer = stage.layer;
  op.kernels = kernels;
  return op;
}

void MicroBatchPass::forward() {
  for (std::size_t i = 0; i < job_.stages.size(); ++i) forward_stage(i);
}

void MicroBatchPass::forward_stage(std::size_t index) {
  const Stage& stage = job_.stages[index];
  std::vector<OpId> waits;
  if (stage.module >= 0)
    if (const auto gathered = forward_gathers_.before(stage.module)) waits.push_back(*gathered);
  Op forward = op(stage, Phase::forward, ".forward", stage.forward);
  if (stage.name == "head") allocate(forward, MemoryComponent::logits, stage.incoming);
  const OpId id = builder_.compute(std::move(forward), waits);
  keep_or_drop(index, id);
  if (stage.name == "loss")  // the bf16 logits, once cast
    release(builder_.op(id), MemoryComponent::logits, stage.outgoing);
  if (stage.module < 0) return;
  const auto& gathers = forward_gathers_.first_ops();
  const auto gather = gathers.find(stage.module);
  first_uses_.emplace_back(stage.module, gather == gathers.end() ? id : gather->second);
  // A tied table stays for the head.
  const bool for_head = stage.name == "embedding" && job_.model.tied_embeddings;
  if (!for_head && !job_.stays_gathered(stage.module)) forward_gathers_.after(stage.module, id);
}

// What the backward pass needs stays; selective recompute drops what is cheap to make again at
// once; full recompute keeps the layer's input (2 b s h, in the qkv stage) and lets the rest die
// when the next stage has read it.
void MicroBatchPass::keep_or_drop(std::size_t index, OpId id) {
  const Stage& stage = job_.stages[index];
  Op& forward = builder_.op(id);
  allocate(forward, saved_component(stage), stage.saved + stage.forward_only);
  release(forward, saved_component(stage), stage.forward_only);
  if (job_.training.recompute == Recompute::selective)
    release(forward, saved_component(stage), stage.recomputable);
  if (!recomputed(stage)) return;
  const auto freed = [&](const Stage& of) {
    return of.name == "qkv" ? of.saved - layer_input(job_) : of.saved;
  };
  if (stage.name != "qkv")
    release(forward, MemoryComponent::activations, freed(job_.stages[index - 1]));
  if (stage.name == "down") release(forward, MemoryComponent::activations, freed(stage));
}

void MicroBatchPass::backward() {
  for (std::size_t i = job_.stages.size(); i-- > 0;) {
    if (recomputed(job_.stages[i]) && job_.stages[i].name == "down") recompute_layer(i);
    backward_stage(i);
  }
}

void MicroBatchPass::recompute_layer(std::size_t last_stage) {
  const int layer = job_.stages[last_stage].layer;
  std::size_t first = last_stage;
  while (first > 0 && job_.stages[first - 1].layer == layer) --first;
  for (std::size_t i = first; i <= last_stage; ++i) {
    const Stage& stage = job_.stages[i];
    std::vector<OpId> waits;
    if (stage.module >= 0)
      if (const auto gathered = backward_gathers_.before(stage.module)) waits.push_back(*gathered);
    Op again = op(stage, Phase::backward, ".recompute", stage.forward);
    const Bytes made = stage.name == "qkv" ? stage.saved - layer_input(job_) : stage.saved;
    allocate(again, MemoryComponent::activations, made);
    builder_.compute(std::move(again), waits);
  }
}

void MicroBatchPass::backward_stage(std::size_t index) {
  const Stage& stage = job_.stages[index];
  std::optional<OpId> wait;
  if (stage.module >= 0) wait = backward_gathers_.before(stage.module);
  const bool selective = job_.training.recompute == Recompute::selective;
  std::vector<Kernel> again = selective ? stage.recompute : std::vector<Kernel>{};
  if (stage.module >= 0) {
    std::vector<Kernel> kernels = std::move(again);
    kernels.insert(kernels.end(), stage.weight_gradient.begin(), stage.weight_gradient.end());
    if (const auto sum = reducer_.accumulation(stage.module)) kernels.push_back(*sum);
    Op weights = op(stage, Phase::backward, ".weight_gradient", kernels);
    weights.component = StateComponent::gradients;
    if (selective) allocate(weights, MemoryComponent::activations, stage.recomputable);
    again.clear();
    const OpId id =
        builder_.compute(std::move(weights), wait ? std::vector<OpId>{*wait} : std::vector<OpId>{});
    reducer_.ready(stage.module, id);
    if (stage.input_gradient.empty()) {  // the embedding
      release(builder_.op(id), gradient_component(stage, true), stage.incoming);
      release(builder_.op(id), MemoryComponent::activations, stage.saved);
      return free_module(stage, id);
    }
  }
  std::vector<Kernel> kernels = std::move(again);
  kernels.insert(kernels.end(), stage.input_gradient.begin(), stage.input_gradient.end());
  Op inputs =
      op(stage, Phase::backward, stage.module >= 0 ? ".input_gradient" : ".backward", kernels);
  if (stage.module < 0 && selective)
    allocate(inputs, MemoryComponent::activations, stage.recomputable);
  allocate(inputs, gradient_component(stage, false), stage.outgoing + stage.backward_only);
  release(inputs, gradient_component(stage, false), stage.backward_only);
  release(inputs, gradient_component(stage, true), stage.incoming);
  release(inputs, saved_component(stage), stage.saved);
  const OpId id = builder_.compute(std::move(inputs));
  if (index + 1 == job_.stages.size()) reducer_.begin(id);
  if (stage.module >= 0) free_module(stage, id);
}

void MicroBatchPass::free_module(const Stage& stage, OpId op) {
  backward_gathers_.after(stage.module, op);
  const bool head = stage.name == "head";
  const bool with_root = head && job_.root_unit();  // goes with the embedding
  if (job_.stays_gathered(stage.module) && !with_root) forward_gathers_.after(stage.module, op);
  if (stage.module == 0 && job_.root_unit())
    forward_gathers_.after(static_cast<int>(job_.modules.size()) - 1, op);
  const bool table = head && job_.model.tied_embeddings && !job_.stays_gathered(0);
  if (table) forward_gathers_.after(0, op);
}

}  // namespace amsp
