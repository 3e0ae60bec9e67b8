// SPDX-License-Identifier: Apache-2.0
#include "workloads/parameter_gathers.hpp"

#include <fmt/format.h>

#include <utility>

namespace amsp {

ParameterGathers::ParameterGathers(const Job& job, ScheduleBuilder& builder, Phase phase,
                                   std::vector<int> order)
    : job_(job), builder_(builder), phase_(phase) {
  if (mesh().size() <= 1) return;
  for (const int module : order) {
    if (phase == Phase::backward && job.stays_gathered(module)) continue;
    const int layer = job.modules[static_cast<std::size_t>(module)].layer;
    const bool root = job.in_root(module) && !units_.empty();  // that of the embedding comes first
    if (root) {
      units_.front().modules.push_back(module);
      unit_of_[module] = 0;
      continue;
    }
    const bool joins =
        per_layer() && layer >= 0 && !units_.empty() &&
        job.modules[static_cast<std::size_t>(units_.back().modules.front())].layer == layer;
    if (!joins) units_.emplace_back();
    units_.back().modules.push_back(module);
    unit_of_[module] = units_.size() - 1;
  }
}

// ZeRO++ (hpZ): backward gathers from the secondary shard.
Mesh ParameterGathers::mesh() const {
  const bool secondary = phase_ == Phase::backward && job_.strategy.secondary.size() > 0;
  return secondary ? job_.strategy.secondary : job_.strategy.parameters;
}

std::string ParameterGathers::stream() const {
  return job_.strategy.single_communication_stream ? "communication" : "gather";
}

// AMSP prefetches a layer forward and, recomputing, backward; else one module backward, since a
// whole layer's gathers would queue ahead of the reduce-scatters (AMSP, V-C).
bool ParameterGathers::per_layer() const {
  if (job_.strategy.flat_layers) return true;
  if (!job_.strategy.gather_per_layer || !job_.strategy.overlap_gather_scatter) return false;
  return phase_ == Phase::forward || job_.training.recompute == Recompute::full;
}

std::optional<OpId> ParameterGathers::before(int module) {
  if (!unit_of_.contains(module)) return std::nullopt;
  const int depth = job_.strategy.overlap_gather_scatter ? job_.strategy.gathers_in_flight : 1;
  const std::size_t wanted = unit_of_.at(module) + static_cast<std::size_t>(depth);
  while (launched_ < units_.size() && launched_ < wanted) launch_unit(units_[launched_++]);
  return ready_.at(module);
}

void ParameterGathers::after(int module, OpId op) {
  if (!unit_of_.contains(module)) return;
  builder_.op(op).memory.push_back(
      {MemoryComponent::gathered_parameters, -job_.bytes(module), false});
}

void ParameterGathers::launch_unit(const Unit& unit) {
  if (job_.strategy.flat_layers) return launch(unit.modules);
  for (const int module : unit.modules) launch({module});
}

// What is gathered by one operation each: everything, or every tensor on its own, small ones (below
// DeepSpeed's param_persistence_threshold of 1e5 elements) together with the next.
std::vector<Bytes> ParameterGathers::parts(const std::vector<int>& modules) const {
  constexpr std::int64_t kSmall = 100000;
  const Bytes element = size_of(job_.training.dtype);
  std::vector<Bytes> result;
  bool open = false;
  for (const int module : modules)
    for (const Tensor& tensor : job_.modules[static_cast<std::size_t>(module)].tensors) {
      if (!open) result.emplace_back();
      result.back() += element * static_cast<double>(tensor.elements);
      open = !job_.strategy.gather_per_tensor || tensor.elements < kSmall;
    }
  return result;
}

void ParameterGathers::launch(const std::vector<int>& modules) {
  const Module& first = job_.modules[static_cast<std::size_t>(modules.front())];
  Chain chain;
  chain.layer = first.layer;
  std::string name = first.layer >= 0 ? fmt::format("l{}.", first.layer) : "";
  if (modules.size() == 1) name += first.name + ".";
  if (modules.size() > 1 && first.layer < 0) name += "root.";
  name += name_of(phase_);
  Bytes all;
  int number = 0;
  for (const Bytes bytes : parts(modules)) {
    chain.name = number == 0 ? name : fmt::format("{}.{}", name, number);
    ++number;
    all += bytes;
    if (!job_.strategy.quantized_weights) {
      all_gather(chain, bytes, job_.training.dtype);
      continue;
    }
    // ZeRO++ (qwZ): int8 with one scale for thousands of elements (left out). Reads the bf16
    // shard and writes half of it; behind the gather reads int8 and writes bf16.
    append_kernel(chain, ".quantize", bytes * 1.5 / mesh().size());
    all_gather(chain, bytes * 0.5, Dtype::int8);
    append_kernel(chain, ".dequantize", bytes * 1.5);
  }
  builder_.op(chain.begin).memory.push_back({MemoryComponent::gathered_parameters, all, true});
  for (const int module : modules) {
    ready_[module] = chain.end;
    first_ops_[module] = chain.begin;
  }
}

void ParameterGathers::append(Chain& chain, Op op) {
  op.name = chain.name + op.name;
  op.phase = phase_;
  op.layer = chain.layer;
  op.component = StateComponent::parameters;
  chain.end = chain.end.valid() ? builder_.launch_after(stream(), std::move(op), {chain.end})
                                : builder_.launch(stream(), std::move(op));
  if (!chain.begin.valid()) chain.begin = chain.end;
}

void ParameterGathers::append_kernel(Chain& chain, const std::string& suffix, Bytes hbm) {
  Op op;
  op.name = suffix;
  op.kernels = {elementwise_kernel(hbm, job_.training.dtype)};
  append(chain, std::move(op));
}

void ParameterGathers::append_gather(Chain& chain, const std::string& suffix,
                                     std::optional<CommId> communicator, Bytes bytes, Dtype dtype) {
  if (!communicator) return;
  Op op;
  op.name = suffix;
  op.collective = CollectivePart{CollectiveKind::all_gather, *communicator, bytes, dtype, 0};
  append(chain, std::move(op));
}

void ParameterGathers::all_gather(Chain& chain, Bytes bytes, Dtype dtype) {
  const Mesh group = mesh();
  const std::string base = group == job_.strategy.parameters ? "parameters" : "secondary";
  if (!job_.strategy.hierarchical_gather || group.across == 1)
    return append_gather(chain, ".gather", builder_.communicator(base, {1, 1}, group), bytes,
                         dtype);
  // MiCS: first between the nodes, each GPU with its like in the other nodes; then inside them.
  const Mesh inside{group.inside, 1};
  append_gather(chain, ".gather_across", builder_.communicator(base + "_across", inside, group),
                bytes / group.inside, dtype);
  append_gather(chain, ".gather_inside", builder_.communicator(base + "_inside", {1, 1}, inside),
                bytes, dtype);
}

}  // namespace amsp
