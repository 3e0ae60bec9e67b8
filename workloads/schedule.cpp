// SPDX-License-Identifier: Apache-2.0
#include "workloads/schedule.hpp"

#include <fmt/format.h>

#include <array>
#include <set>

namespace amsp {
namespace {

constexpr std::array<std::string_view, 4> kPhases{"forward", "backward", "optimizer", "update"};
constexpr std::array<std::string_view, 4> kStates{"none", "parameters", "gradients",
                                                  "optimizer_states"};
constexpr std::array<std::string_view, 10> kMemory{
    "parameters", "gradients", "optimizer_states", "activations",           "gathered_parameters",
    "buckets",    "logits",    "temporaries",      "communication_buffers", "context"};

template <class Array>
std::vector<std::string> strings(const Array& names) {
  return {names.begin(), names.end()};
}

// A check of one schedule: all its errors name the same file and the place of the part.
class Check {
 public:
  Check(const Schedule& schedule, const Place& place) : schedule_(schedule), place_(place) {}

  void run() const {
    if (schedule_.world < 1) fail("/world", "a schedule needs at least one rank");
    unique(schedule_.streams, "stream");
    unique(schedule_.communicators, "communicator");
    unique(schedule_.ops, "op");
    unique(schedule_.blocks, "block");
    for (const Communicator& communicator : schedule_.communicators) check(communicator);
    check_blocks();
    for (const Op& op : schedule_.ops) check(op);
    for (const PersistentMemory& memory : schedule_.persistent)
      if (!(memory.bytes.value() >= 0)) fail("/persistent", "memory cannot be negative");
  }

 private:
  [[noreturn]] void fail(std::string_view where, std::string_view message) const {
    throw InputError({place_.file, place_.where + std::string(where)}, message);
  }
  [[noreturn]] void fail_op(const Op& op, std::string_view message) const {
    fail("", fmt::format("op \"{}\": {}", op.name, message));
  }

  template <class Parts>
  void unique(const Parts& parts, std::string_view what) const {
    std::set<std::string_view> seen;
    for (const auto& part : parts) {
      if (part.name.empty()) fail("", fmt::format("a {} has no name", what));
      if (!seen.insert(part.name).second)
        fail("", fmt::format("two {}s are named \"{}\"", what, part.name));
    }
  }

  void check(const Communicator& communicator) const {
    const auto bad = [&](std::string_view message) {
      fail("", fmt::format("communicator \"{}\": {}", communicator.name, message));
    };
    if (communicator.axes.empty() == communicator.groups.empty())
      bad("needs either axes or explicit groups");
    std::int64_t world = 1;
    for (const auto& axis : communicator.axes) {
      if (axis.size < 1) bad(fmt::format("an axis of size {}", axis.size));
      world *= axis.size;
      if (world > schedule_.world)  // here, before the product of many can overflow
        bad(fmt::format("its axes make more ranks than the {} of the world", schedule_.world));
    }
    if (!communicator.axes.empty() && world != schedule_.world)
      bad(fmt::format("its axes make {} ranks, but the world has {}", world, schedule_.world));
    std::set<Rank> seen;
    for (const auto& group : communicator.groups) {
      if (group.empty()) bad("a group is empty");
      for (const Rank rank : group) {
        if (rank.index < 0 || rank.index >= schedule_.world)
          bad(fmt::format("rank {} is outside the world of {}", rank.index, schedule_.world));
        if (!seen.insert(rank).second) bad(fmt::format("rank {} stands twice", rank.index));
      }
    }
  }

  void check_blocks() const {
    std::size_t next = 0;
    for (const Block& block : schedule_.blocks) {
      if (block.repeat < 1)
        fail("", fmt::format("block \"{}\" is repeated {} times; at least once", block.name,
                             block.repeat));
      if (block.ops.empty()) fail("", fmt::format("block \"{}\" has no ops", block.name));
      for (const OpId op : block.ops)
        if (op.position() != next++ || next > schedule_.ops.size())
          fail("",
               fmt::format("block \"{}\" does not hold the ops in order, each once", block.name));
    }
    if (next != schedule_.ops.size())
      fail("", fmt::format("op \"{}\" stands in no block", schedule_.ops[next].name));
    if (next == 0) fail("/blocks", "a schedule needs at least one op");
  }

  void check(const Op& op) const {
    if (!op.stream.valid() || op.stream.position() >= schedule_.streams.size())
      fail_op(op, "has no stream");
    for (const OpId after : op.after)
      if (!after.valid() || after.position() >= schedule_.ops.size())
        fail_op(op, "depends on an op that does not exist");
    if (op.collective && !op.kernels.empty())
      fail_op(op, "has kernels and a collective; make two ops of it");
    if (op.collective) check(op, *op.collective);
    for (const Kernel& kernel : op.kernels)
      if (!(kernel.hbm.value() >= 0) || !(kernel.duration.value() >= 0))
        fail_op(op, "a kernel of negative size");
    if (op.role) check_index(op, op.role->communicator, op.role->index, "role");
    for (const MemoryChange& change : op.memory)
      if (!(change.delta.value() < 0) && !(change.delta.value() > 0))
        fail_op(op, "a memory change of nothing");
  }

  void check(const Op& op, const CollectivePart& part) const {
    if (!(part.bytes.value() >= 0)) fail_op(op, "a collective of negative size");
    check_index(op, part.communicator, part.root, "root");
  }

  void check_index(const Op& op, CommId communicator, int index, std::string_view what) const {
    if (!communicator.valid() || communicator.position() >= schedule_.communicators.size())
      fail_op(op, "has no communicator");
    const int size = schedule_.communicators[communicator.position()].group_size();
    if (index < 0 || index >= size)
      fail_op(op, fmt::format("{} {} is outside a group of {}", what, index, size));
  }

  const Schedule& schedule_;
  const Place& place_;
};

}  // namespace

std::string_view name_of(Phase phase) { return kPhases[static_cast<std::size_t>(phase)]; }
std::string_view name_of(StateComponent component) {
  return kStates[static_cast<std::size_t>(component)];
}
std::string_view name_of(MemoryComponent component) {
  return kMemory[static_cast<std::size_t>(component)];
}
std::vector<std::string> phase_names() { return strings(kPhases); }
std::vector<std::string> state_component_names() { return strings(kStates); }
std::vector<std::string> memory_component_names() { return strings(kMemory); }

void check_schedule(const Schedule& schedule, const Place& place) { Check(schedule, place).run(); }

}  // namespace amsp
