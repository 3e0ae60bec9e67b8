// SPDX-License-Identifier: Apache-2.0
#include "workloads/gradient_reducer.hpp"

#include <fmt/format.h>

#include <algorithm>
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
  return job_.strategy.parameters != job_.data_parallel &&
         (!job_.strategy.overlap_all_reduce ||
          job_.strategy.boundary == BoundaryReduction::synchronous);
}

bool GradientReducer::contiguous() const {
  return job_.strategy.contiguous_gradients &&
         (job_.parameters_sharded() || job_.gradients_leave());
}

void GradientReducer::remember(OpId op, MemoryComponent component, Bytes delta, bool at_start) {
  if (delta != Bytes(0)) builder_.op(op).memory.push_back({component, delta, at_start});
}

void GradientReducer::begin(OpId first_backward) {
  if (!contiguous() || job_.parameters_sharded()) return;
  held_ = job_.strategy.bucket * (job_.strategy.overlap_all_reduce ? 2.0 : 1.0);
  remember(first_backward, MemoryComponent::buckets, held_, true);
}

std::optional<Kernel> GradientReducer::accumulation(int module) const {
  const Bytes bytes = job_.bytes(module);
  // Copy into the bucket: reads 2, writes 2 bytes an element. Sum: reads both, writes one.
  if (contiguous()) return elementwise_kernel(bytes * 2.0, job_.training.dtype);
  if (job_.parameters_sharded() || job_.gradients_leave() || micro_batch_.first)
    return std::nullopt;
  return elementwise_kernel(bytes * 3.0, job_.training.dtype);
}

// The table's gradient from the head's use of it waits for that of the embedding, to which autograd
// adds it before anything is reduced.
void GradientReducer::hold_tied_table(int module, OpId weight_gradient) {
  if (!job_.model.tied_embeddings) return;
  const Bytes table =
      size_of(job_.training.dtype) * static_cast<double>(job_.model.vocabulary * job_.model.hidden);
  const int head = static_cast<int>(job_.modules.size()) - 1;
  if (module == head) remember(weight_gradient, MemoryComponent::buckets, table, true);
  if (module == 0) remember(weight_gradient, MemoryComponent::buckets, -table, false);
}

void GradientReducer::ready(int module, OpId weight_gradient) {
  hold_tied_table(module, weight_gradient);
  const Bytes bytes = job_.bytes(module);
  const bool stays = !job_.parameters_sharded() && !job_.gradients_leave();
  if (stays && micro_batch_.first) {
    remember(weight_gradient, MemoryComponent::gradients, bytes, true);
  } else {
    // Until it is added to the sum, copied into the bucket, or reduced.
    remember(weight_gradient, MemoryComponent::buckets, bytes, true);
    if (stays || contiguous()) remember(weight_gradient, MemoryComponent::buckets, -bytes, false);
  }
  if (job_.parameters_sharded())
    to_shards(module, weight_gradient);
  else
    to_replicas({module}, weight_gradient);
}

void GradientReducer::to_shards(int module, OpId weight_gradient) {
  if (job_.in_root(module) && !contiguous()) {
    root_.push_back(module);
    if (module > 0) return;
    unscattered_ = std::exchange(root_, {});
    for (const int part : unscattered_) unscattered_bytes_ += job_.bytes(part);
    return scatter(weight_gradient);
  }
  const Bytes bytes = job_.bytes(module);
  const bool full = unscattered_bytes_ + bytes > job_.strategy.bucket;
  if (contiguous() && full) scatter(weight_gradient);
  unscattered_.push_back(module);
  unscattered_bytes_ += bytes;
  if (contiguous()) return;
  const int layer = job_.modules[static_cast<std::size_t>(module)].layer;
  const bool more = job_.strategy.flat_layers && layer >= 0 &&
                    job_.modules[static_cast<std::size_t>(module - 1)].layer == layer;
  if (!more) scatter(weight_gradient);
}

void GradientReducer::to_replicas(const std::vector<int>& modules, OpId ready) {
  if (!reduces_replicas()) return;
  const Bytes element = size_of(job_.training.dtype) / job_.strategy.parameters.size();
  for (const int module : modules)
    for (const Tensor& tensor : job_.modules[static_cast<std::size_t>(module)].tensors)
      add_to_bucket(element * static_cast<double>(tensor.elements), ready);
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

void GradientReducer::scatter(OpId after) {
  const std::vector<int> modules = std::exchange(unscattered_, {});
  const Bytes bytes = std::exchange(unscattered_bytes_, Bytes(0));
  if (modules.empty()) return;
  const Module& first = job_.modules[static_cast<std::size_t>(modules.front())];
  Chain chain;
  chain.layer = first.layer;
  chain.stream = job_.strategy.single_communication_stream ? "communication" : "scatter";
  chain.end = after;
  if (first.layer >= 0) chain.name = fmt::format("l{}.", first.layer);
  const bool root = modules.size() > 1 && job_.in_root(modules.front());
  if (!job_.strategy.flat_layers || first.layer < 0)
    chain.name += (root ? "root" : first.name) + ".";
  chain.name += "gradient";
  if (job_.strategy.quantized_gradients)
    exchange_quantized(chain, bytes);
  else
    append_collective(chain, CollectiveKind::reduce_scatter, "parameters", {1, 1},
                      job_.strategy.parameters, bytes, job_.training.dtype);
  if (!contiguous()) remember(chain.end, MemoryComponent::buckets, -bytes, false);
  hold_shards(modules, chain.end);
  last_scatter_ = chain.end;
  if (!job_.strategy.overlap_gather_scatter) builder_.hold_compute(chain.end);
  to_replicas(modules, chain.end);
  // DeepSpeed's MiCS sums the shards of one bucket at a time (partition_grads in zero/mics.py).
  if (contiguous()) close_bucket(chain.end);
}

// Where the shards stay: in the step's gradients at once; later ones in a buffer of at most a
// bucket until they are added up; those that go on to other ranks in the bucket.
void GradientReducer::hold_shards(const std::vector<int>& modules, OpId scattered) {
  Bytes bytes;
  for (const int module : modules) bytes += job_.bytes(module);
  bytes = bytes / job_.strategy.parameters.size();
  if (job_.gradients_leave()) {
    remember(scattered, MemoryComponent::buckets, bytes, true);
  } else if (micro_batch_.first) {
    if (!job_.gradients_persist()) remember(scattered, MemoryComponent::gradients, bytes, true);
  } else if (!last_scatter_.valid()) {
    held_ = std::min(job_.strategy.bucket, job_.all_bytes() / job_.strategy.parameters.size());
    remember(scattered, MemoryComponent::buckets, held_, true);
  }
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
  const bool shards_leave = job_.gradients_leave();
  const bool flat = job_.strategy.flat_layers || contiguous();
  const bool accumulates =
      job_.parameters_sharded() && micro_batch_.last && !micro_batch_.first && !shards_leave;
  const Bytes hbm = bucket.bytes * ((accumulates ? 3.0 : 0.0) + (flat ? 0.0 : 2.0));
  const bool copied = hbm > Bytes(0);
  // What lies in the buckets on its own until then: gradients on their way to other ranks.
  const bool alone = shards_leave && !(contiguous() && !job_.parameters_sharded());
  if (copied) {
    append_kernel(chain, ".flatten", hbm);
    if (at_end && last_scatter_.valid()) builder_.add_dependency(chain.end, last_scatter_);
    remember(chain.end, MemoryComponent::buckets, bucket.bytes, true);
    if (alone) remember(chain.end, MemoryComponent::buckets, -bucket.bytes, false);
  }
  reduce(chain, bucket.bytes);
  if (at_end && !copied && last_scatter_.valid()) builder_.add_dependency(chain.end, last_scatter_);
  // Select and drop: a GPU copies out what it owns of the gradients, all of it or its shard.
  const Bytes kept = bucket.bytes * static_cast<double>(job_.strategy.parameters.size()) /
                     job_.strategy.gradients.size();
  if (!flat || shards_leave) append_kernel(chain, ".unflatten", kept * 2.0);
  if (copied || alone) remember(chain.end, MemoryComponent::buckets, -bucket.bytes, false);
  if (shards_leave && micro_batch_.first && !job_.gradients_persist())
    remember(chain.end, MemoryComponent::gradients, kept, true);
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
  if (!unscattered_.empty()) scatter(builder_.last_compute());
  if (open_.bytes > Bytes(0)) close_bucket(open_.filled);
  for (const Bucket& bucket : std::exchange(deferred_buckets_, {})) reduce_bucket(bucket, true);
  // A first micro-batch leaves its sums running into the next one; a later one adds them up.
  if (micro_batch_.last || !micro_batch_.first || deferred()) {
    if (last_scatter_.valid()) builder_.hold_compute(last_scatter_);
    if (last_bucket_.valid()) builder_.hold_compute(last_bucket_);
  }
  accumulate_shards();
}

void GradientReducer::accumulate_shards() {
  const bool in_buckets = micro_batch_.last && reduces_replicas() && !job_.gradients_leave();
  const bool shards = job_.parameters_sharded() || job_.gradients_leave();
  OpId end = last_bucket_.valid() ? last_bucket_ : last_scatter_;
  if (shards && !micro_batch_.first && !in_buckets) {
    Op op;
    op.name = "accumulate";
    op.phase = Phase::backward;
    op.component = StateComponent::gradients;
    op.kernels = {elementwise_kernel(job_.all_bytes() * 3.0 / job_.strategy.gradients.size(),
                                     job_.training.dtype)};
    end = builder_.compute(std::move(op));
  }
  if (held_ > Bytes(0)) remember(end, MemoryComponent::buckets, -held_, false);
}

}  // namespace amsp
