// SPDX-License-Identifier: Apache-2.0
#include "workloads/memory.hpp"

#include <set>

#include "workloads/ownership.hpp"

namespace amsp {
namespace {

constexpr double kMebi = 1048576;
// CUDA context of a PyTorch process: "~300 MB" since CUDA 11.7 loads kernels when they are needed
// (a maintainer in pytorch/pytorch#107667).
constexpr Bytes kContext(300 * kMebi);
// NCCL's buffers of one communicator as measured on four A100s with NVLink: 544 MiB for a group of
// two, 688 MiB for more (NVIDIA/nccl#964). A ring keeps two connections whatever the scale.
constexpr Bytes kCommunicatorOfTwo(544 * kMebi);
constexpr Bytes kCommunicator(688 * kMebi);

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

std::vector<PersistentMemory> persistent_memory(const Job& job,
                                                const std::vector<Communicator>& communicators) {
  const Strategy& s = job.strategy;
  const Bytes all = job.all_bytes();
  Bytes held = all / s.parameters.size();
  if (s.secondary.size() > 0 && job.parameters_sharded()) held += all / s.secondary.size();
  const Bytes owned = own_optimizer_states(job).largest();
  // Adam in fp32: master copy and two moments, 12 bytes for an owned parameter.
  const Bytes states = Bytes(12) * (owned / size_of(job.training.dtype));
  std::vector<PersistentMemory> memory{{MemoryComponent::parameters, held},
                                       {MemoryComponent::optimizer_states, states},
                                       {MemoryComponent::context, kContext}};
  if (job.gradients_persist()) {  // stage 3 makes these buffers at start-up
    memory.push_back({MemoryComponent::gradients, all / s.gradients.size()});
    memory.push_back({MemoryComponent::buckets, s.bucket});
  }
  Bytes buffers;
  std::set<std::vector<Rank>> groups;  // equal groups share a process group
  for (const Communicator& communicator : communicators)
    if (groups.insert(communicator.members(0)).second)
      buffers += communicator.group_size() == 2 ? kCommunicatorOfTwo : kCommunicator;
  if (buffers > Bytes(0)) memory.push_back({MemoryComponent::communication_buffers, buffers});
  return memory;
}

MemoryEstimate estimate_peak_memory(const Schedule& schedule) { return Walk(schedule).result(); }

}  // namespace amsp
