// SPDX-License-Identifier: Apache-2.0
#include "workloads/optimizer_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/units_text.hpp"
#include "workloads/adam_cost.hpp"
#include "workloads/ownership.hpp"

namespace amsp {
namespace {

class StepEnd {
 public:
  StepEnd(const Job& job, ScheduleBuilder& builder)
      : job_(job),
        builder_(builder),
        ownership_(own_optimizer_states(job)),
        cost_(adam_cost(job.strategy.adam)) {}

  OptimizerStep build() {
    const double element = size_of(job_.training.dtype).value();
    owned_ = ownership_.largest().value() / element;
    norm();
    adam();
    spread();
    return std::move(result_);
  }

 private:
  Op compute_op(const std::string& name, Phase phase) const {
    Op op;
    op.name = name;
    op.phase = phase;
    op.component = StateComponent::optimizer_states;
    return op;
  }

  // The norm of the owned gradients, then a sum of 4 bytes over the owners.
  void norm() {
    Op op = compute_op("norm", Phase::optimizer);
    op.kernels = {elementwise_kernel(owned_ * cost_.norm, job_.training.dtype)};
    const Bytes held = std::min(largest_tensor(), owned_) * cost_.norm_temporaries;
    if (held > Bytes(0))
      op.memory = {{MemoryComponent::temporaries, held, true},
                   {MemoryComponent::temporaries, -held, false}};
    builder_.compute(std::move(op));
    const auto group = builder_.communicator("owners", {1, 1}, job_.strategy.optimizer);
    if (!group) return;
    const OpId sum = builder_.launch(
        "update", collective_op("norm.all_reduce", Phase::optimizer, -1, StateComponent::gradients,
                                {CollectiveKind::all_reduce, *group, Bytes(4), Dtype::fp32, 0}));
    builder_.hold_compute(sum);
  }

  // Parameters of the largest tensor's part on this GPU.
  [[nodiscard]] double largest_tensor() const {
    std::int64_t largest = 0;
    for (const Module& module : job_.modules)
      for (const Tensor& tensor : module.tensors) largest = std::max(largest, tensor.elements);
    return static_cast<double>(largest) / job_.strategy.parameters.size();
  }

  void adam() {
    Op op = compute_op("adam", Phase::optimizer);
    Kernel update;
    update.kind = KernelClass::optimizer;
    update.dtype = Dtype::fp32;
    update.hbm = owned_ * cost_.update;
    const auto add = [&](Bytes bytes, Dtype dtype) {
      if (bytes > Bytes(0)) op.kernels.push_back(elementwise_kernel(owned_ * bytes, dtype));
    };
    add(cost_.to_fp32, job_.training.dtype);
    add(cost_.scale, Dtype::fp32);
    op.kernels.push_back(update);
    add(cost_.from_fp32, job_.training.dtype);
    const Bytes gradients =
        job_.gradients_persist() ? Bytes(0) : job_.all_bytes() / job_.strategy.gradients.size();
    const Bytes own = std::min(gradients, ownership_.largest());
    const Bytes foreign = cost_.drops_foreign_gradients ? gradients - own : Bytes(0);
    const Bytes temporaries = at_once() * cost_.temporaries;
    const auto change = [&](MemoryComponent component, Bytes delta, bool at_start) {
      if (delta != Bytes(0)) op.memory.push_back({component, delta, at_start});
    };
    change(MemoryComponent::temporaries, temporaries, true);
    change(MemoryComponent::gradients, -foreign, true);
    change(MemoryComponent::temporaries, -temporaries, false);
    // zero_grad(set_to_none): made again by the next step's first micro-batch.
    change(MemoryComponent::gradients, foreign - gradients, false);
    builder_.compute(std::move(op));
  }

  // Parameters that are updated at a time.
  [[nodiscard]] double at_once() const {
    const double group = job_.strategy.sub_group / size_of(job_.training.dtype);
    return group > 0 ? std::min(group, owned_) : owned_;
  }

  void spread() {
    const Strategy& s = job_.strategy;
    const auto group = builder_.communicator("update", s.parameters, s.optimizer);
    if (group && s.update == ParameterUpdate::broadcast) broadcasts(*group);
    if (group && s.update == ParameterUpdate::all_gather) gathers(*group);
    if (s.overlap_broadcast && !spread_.empty()) return;
    for (const OpId op : spread_) builder_.hold_compute(op);
    builder_.compute(compute_op("end", Phase::update));
  }

  // One broadcast for each owner, in the order of the owners.
  void broadcasts(CommId group) {
    for (std::size_t owner = 0; owner < ownership_.bytes.size(); ++owner) {
      if (!(ownership_.bytes[owner] > Bytes(0))) continue;
      const OpId op = builder_.launch(
          "update", collective_op(fmt::format("broadcast{}", owner), Phase::update, -1,
                                  StateComponent::parameters,
                                  {CollectiveKind::broadcast, group, ownership_.bytes[owner],
                                   job_.training.dtype, static_cast<int>(owner)}));
      done(op, ownership_.modules[owner]);
    }
  }

  // In chunks of a bucket of the flat parameters (DeepSpeed's allgather_bucket_size).
  void gathers(CommId group) {
    const Bytes all = job_.all_bytes() / job_.strategy.parameters.size();
    constexpr double kMostChunks = 1 << 16;
    if (all / job_.strategy.bucket > kMostChunks)
      throw InputError("strategy " + job_.strategy.name + ": buckets of " +
                       to_text(job_.strategy.bucket) +
                       " make too many all-gathers of the updated parameters; at least " +
                       to_text(Bytes(std::ceil(all.value() / kMostChunks))) + " would do");
    int number = 0;
    for (Bytes sent; sent < all;) {
      const Bytes chunk = std::min(job_.strategy.bucket, all - sent);
      const OpId op = builder_.launch(
          "update",
          collective_op(fmt::format("update{}.gather", number++), Phase::update, -1,
                        StateComponent::parameters,
                        {CollectiveKind::all_gather, group, chunk, job_.training.dtype, 0}));
      done(op, modules_between(sent, sent + chunk));
      sent += chunk;
    }
  }

  // Modules with a part in [begin, end) of the local shard's flat buffer.
  std::vector<int> modules_between(Bytes begin, Bytes end) const {
    std::vector<int> modules;
    Bytes at;
    for (std::size_t m = 0; m < job_.modules.size(); ++m) {
      const Bytes next = at + job_.bytes(static_cast<int>(m)) / job_.strategy.parameters.size();
      if (at < end && next > begin) modules.push_back(static_cast<int>(m));
      at = next;
    }
    return modules;
  }

  void done(OpId op, const std::vector<int>& modules) {
    spread_.push_back(op);
    for (const int module : modules) result_.updates_of_module[module].push_back(op);
  }

  const Job& job_;
  ScheduleBuilder& builder_;
  Ownership ownership_;
  AdamCost cost_;
  double owned_ = 0;          // parameters of the largest owner
  std::vector<OpId> spread_;  // the collectives that spread the update
  OptimizerStep result_;
};

}  // namespace

OptimizerStep add_optimizer_step(const Job& job, ScheduleBuilder& builder) {
  return StepEnd(job, builder).build();
}

}  // namespace amsp
