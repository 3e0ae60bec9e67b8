// SPDX-License-Identifier: Apache-2.0
#include "workloads/memory.hpp"

#include "workloads/ownership.hpp"

namespace amsp {
namespace {

class Walk {
 public:
  explicit Walk(const Schedule& schedule) {
    for (const PersistentMemory& memory : schedule.persistent)
      change(memory.component, memory.bytes);
    note(OpId());
    for (const Block& block : schedule.blocks)
      for (const OpId id : block.ops) {
        apply(schedule.op(id), true);
        note(id);
        apply(schedule.op(id), false);
        note(id);
      }
  }
  [[nodiscard]] const MemoryEstimate& result() const { return result_; }

 private:
  void change(MemoryComponent component, Bytes delta) {
    now_[component] += delta;
    total_ += delta;
  }
  void apply(const Op& op, bool at_start) {
    for (const MemoryChange& memory : op.memory)
      if (memory.at_start == at_start) change(memory.component, memory.delta);
  }
  void note(OpId at) {
    if (total_ > result_.peak) result_ = {total_, now_, at};
  }

  std::map<MemoryComponent, Bytes> now_;
  Bytes total_;
  MemoryEstimate result_;
};

}  // namespace

std::vector<PersistentMemory> persistent_memory(const Job& job) {
  const Strategy& s = job.strategy;
  const Bytes all = job.all_bytes();
  Bytes held = all / s.parameters.size();
  if (s.secondary.size() > 0) held += all / s.secondary.size();
  const Bytes owned = own_optimizer_states(job).largest();
  // Adam in fp32: master copy and two moments, 12 bytes for an owned parameter.
  const Bytes states = Bytes(12) * (owned / size_of(job.training.dtype));
  return {{MemoryComponent::parameters, held},
          {MemoryComponent::gradients, all / s.gradients.size()},
          {MemoryComponent::optimizer_states, states}};
}

MemoryEstimate estimate_peak_memory(const Schedule& schedule) { return Walk(schedule).result(); }

}  // namespace amsp
