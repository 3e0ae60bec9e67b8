// SPDX-License-Identifier: Apache-2.0
#include "workloads/gradient_reducer.hpp"

#include <fmt/format.h>

#include <utility>

namespace amsp {

GradientReducer::GradientReducer(const Job& job, ScheduleBuilder& builder, MicroBatch micro_batch)
    : job_(job), builder_(builder), micro_batch_(micro_batch) {}

bool GradientReducer::reduces_replicas() const {
  const bool now =
      micro_batch_.last || job_.strategy.reduce_every_micro_batch || job_.gradients_leave();
  return now && job_.strategy.parameters != job_.data_parallel;
}

bool GradientReducer::deferred() const {
  return !job_.strategy.overlap_all_reduce ||
         job_.strategy.boundary == BoundaryReduction::synchronous;
}

std::optional<Kernel> GradientReducer::accumulation(int module) const {
  if (job_.parameters_sharded() || job_.gradients_leave() || micro_batch_.first)
    return std::nullopt;
  // Reads both, writes the sum: 6 bytes for an element of 2.
  return elementwise_kernel(job_.bytes(module) * 3.0, job_.training.dtype);
}

void GradientReducer::ready(int module, OpId weight_gradient) {
  OpId ready = weight_gradient;
  if (job_.parameters_sharded()) {
    builder_.op(weight_gradient)
        .memory.push_back({MemoryComponent::buckets, job_.bytes(module), true});
    flat_.push_back(module);
    const int layer = job_.modules[static_cast<std::size_t>(module)].layer;
    const bool more = job_.strategy.flat_layers && layer >= 0 &&
                      job_.modules[static_cast<std::size_t>(module - 1)].layer == layer;
    if (more) return;
    ready = scatter(flat_, weight_gradient);
  } else {
    flat_.push_back(module);
  }
  const std::vector<int> modules = std::exchange(flat_, {});
  if (!reduces_replicas()) return;
  const double shard = job_.strategy.parameters.size();
  for (const int part : modules) {
    const Module& of = job_.modules[static_cast<std::size_t>(part)];
    if (job_.gradients_leave())
      builder_.op(ready).memory.push_back(
          {MemoryComponent::buckets, job_.bytes(part) / shard, true});
    for (const Tensor& tensor : of.tensors)
      add_to_bucket(size_of(job_.training.dtype) * static_cast<double>(tensor.elements) / shard,
                    ready);
  }
  if (job_.strategy.flat_layers) close_bucket(ready);
}

void GradientReducer::append(Chain& chain, const std::string& suffix, Op op) {
  op.name = chain.name + suffix;
  op.phase = Phase::backward;
  op.layer = chain.layer;
  op.component = StateComponent::gradients;
  chain.end = chain.end.valid() ? builder_.launch_after(chain.stream, std::move(op), {chain.end})
                                : builder_.launch(chain.stream, std::move(op));
}

void GradientReducer::append_kernel(Chain& chain, const std::string& suffix, Bytes hbm) {
  Op op;
  op.kernels = {elementwise_kernel(hbm, job_.training.dtype)};
  append(chain, suffix, std::move(op));
}

void GradientReducer::append_collective(Chain& chain, CollectiveKind kind,
                                        const std::string& communicator, Mesh inner, Mesh outer,
                                        Bytes bytes, Dtype dtype) {
  const auto group = builder_.communicator(communicator, inner, outer);
  if (!group) return;
  Op op;
  op.collective = CollectivePart{kind, *group, bytes, dtype, 0};
  const std::string suffix = kind == CollectiveKind::all_to_all ? communicator : "";
  append(chain, "." + std::string(name_of(kind)) + suffix, std::move(op));
}

OpId GradientReducer::scatter(const std::vector<int>& modules, OpId after) {
  const Module& first = job_.modules[static_cast<std::size_t>(modules.front())];
  Chain chain;
  chain.layer = first.layer;
  if (first.layer >= 0) chain.name = fmt::format("l{}", first.layer);
  if (modules.size() == 1) chain.name += (chain.name.empty() ? "" : ".") + first.name;
  chain.stream = job_.strategy.single_communication_stream ? "communication" : "scatter";
  chain.end = after;
  Bytes bytes;
  for (const int module : modules) bytes += job_.bytes(module);
  if (job_.strategy.quantized_gradients)
    exchange_quantized(chain, bytes);
  else
    append_collective(chain, CollectiveKind::reduce_scatter, "parameters", {1, 1},
                      job_.strategy.parameters, bytes, job_.training.dtype);
  builder_.op(chain.end).memory.push_back({MemoryComponent::buckets, -bytes, false});
  last_scatter_ = chain.end;
  if (!job_.strategy.overlap_gather_scatter) builder_.hold_compute(chain.end);
  return chain.end;
}

// ZeRO++ (qgZ): int4 with scales left out. All-to-all inside the nodes, the parts added up and
// quantised again, all-to-all between the nodes, added up: two roundings, no ring of them.
void GradientReducer::exchange_quantized(Chain& chain, Bytes bytes) {
  const Mesh mesh = job_.strategy.parameters;
  const Mesh inside{mesh.inside, 1};
  const Bytes packed = bytes / 4;  // two elements a byte
  append_kernel(chain, ".quantize", bytes + packed);
  append_collective(chain, CollectiveKind::all_to_all, "_inside", {1, 1}, inside, packed,
                    Dtype::int8);
  const Bytes part = packed / inside.size();
  const Bytes shard = bytes / mesh.size();
  append_kernel(chain, ".reduce_inside", packed + (mesh.across > 1 ? part : shard));
  append_collective(chain, CollectiveKind::all_to_all, "_across", inside, mesh, part, Dtype::int8);
  if (mesh.across > 1) append_kernel(chain, ".reduce_across", part + shard);
}

// As InternEvo: a gradient that does not fit any more sends the bucket off first.
void GradientReducer::add_to_bucket(Bytes bytes, OpId ready) {
  if (open_.bytes > Bytes(0) && open_.bytes + bytes > job_.strategy.bucket) close_bucket(ready);
  open_.bytes += bytes;
  open_.filled = ready;
}

void GradientReducer::close_bucket(OpId trigger) {
  if (!(open_.bytes > Bytes(0))) return;
  Bucket bucket = std::exchange(open_, {});
  bucket.filled = trigger;
  if (deferred())
    deferred_buckets_.push_back(bucket);
  else
    reduce_bucket(bucket, false);
}

void GradientReducer::reduce_bucket(const Bucket& bucket, bool at_end) {
  Chain chain;
  chain.name = fmt::format("bucket{}", buckets_++);
  chain.stream = "reduce";
  chain.end = at_end ? OpId() : bucket.filled;
  const bool accumulates = job_.parameters_sharded() && micro_batch_.last && !micro_batch_.first;
  Bytes hbm;
  if (accumulates) hbm += bucket.bytes * 3.0;
  if (!job_.strategy.flat_layers) hbm += bucket.bytes * 2.0;
  OpId begin;
  if (hbm > Bytes(0)) {
    append_kernel(chain, ".flatten", hbm);
    begin = chain.end;
    builder_.op(begin).memory.push_back({MemoryComponent::buckets, bucket.bytes, true});
    if (job_.gradients_leave())
      builder_.op(begin).memory.push_back({MemoryComponent::buckets, -bucket.bytes, false});
  }
  reduce(chain, bucket.bytes);
  if (at_end && last_scatter_.valid() && begin.valid())
    builder_.add_dependency(begin, last_scatter_);
  if (!job_.strategy.flat_layers) {
    // Select and drop: a GPU copies out what it owns of the gradients, all of it or its shard.
    const double kept =
        static_cast<double>(job_.strategy.parameters.size()) / job_.strategy.gradients.size();
    append_kernel(chain, ".unflatten", bucket.bytes * 2.0 * kept);
  }
  if (begin.valid())
    builder_.op(chain.end).memory.push_back({MemoryComponent::buckets, -bucket.bytes, false});
  last_bucket_ = chain.end;
}

void GradientReducer::reduce(Chain& chain, Bytes bytes) {
  const Strategy& s = job_.strategy;
  const Dtype dtype = job_.training.dtype;
  if (!micro_batch_.last && job_.gradients_leave()) {
    const auto kind = s.reduction == GradientReduction::all_reduce ? CollectiveKind::all_reduce
                                                                   : CollectiveKind::reduce_scatter;
    return append_collective(chain, kind, "gradients", s.parameters, s.gradients, bytes, dtype);
  }
  if (s.reduction == GradientReduction::all_reduce)
    return append_collective(chain, CollectiveKind::all_reduce, "replicas", s.parameters,
                             job_.data_parallel, bytes, dtype);
  append_collective(chain, CollectiveKind::reduce_scatter, "gradients", s.parameters, s.optimizer,
                    bytes, dtype);
  const double parts = static_cast<double>(s.optimizer.size()) / s.parameters.size();
  append_collective(chain, CollectiveKind::all_reduce, "replicas", s.optimizer, job_.data_parallel,
                    bytes / parts, dtype);
}

void GradientReducer::finish() {
  if (open_.bytes > Bytes(0)) close_bucket(open_.filled);
  for (const Bucket& bucket : std::exchange(deferred_buckets_, {})) reduce_bucket(bucket, true);
  const bool in_buckets = micro_batch_.last && reduces_replicas() && !job_.gradients_leave();
  const bool shards = job_.parameters_sharded() || job_.gradients_leave();
  if (last_scatter_.valid() && (micro_batch_.last || !micro_batch_.first))
    builder_.hold_compute(last_scatter_);
  if (last_bucket_.valid() && (micro_batch_.last || !micro_batch_.first))
    builder_.hold_compute(last_bucket_);
  if (!shards || micro_batch_.first || in_buckets) return;
  Op op;
  op.name = "accumulate";
  op.phase = Phase::backward;
  op.component = StateComponent::gradients;
  op.kernels = {elementwise_kernel(job_.all_bytes() * 3.0 / job_.strategy.gradients.size(),
                                   job_.training.dtype)};
  builder_.compute(std::move(op));
}

}  // namespace amsp
