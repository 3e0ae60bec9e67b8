// SPDX-License-Identifier: Apache-2.0
// The schedule: one training step as an SPMD program of operations on streams. It is generated
// once, replayed by the simulator and run by the execution backends (docs/formats/schedule.md).
//
// Program order: blocks in order, each repeated `repeat` times, the whole for each step. Every op
// stands in exactly one block, and the blocks hold the ops in the order of their ids.
// Streams are first in, first out, in program order. A dependency on an op means its most recent
// earlier instance in program order (so an op that stands later in the program means the previous
// repetition or step); where there is none yet, the dependency is void. Operations on one
// communicator run in order; a collective starts when all members of its group have reached it.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/collective_kind.hpp"
#include "base/dtype.hpp"
#include "base/id.hpp"
#include "base/json_value.hpp"
#include "base/kernel.hpp"
#include "base/quantity.hpp"

namespace amsp {

enum class Phase { forward, backward, optimizer, update };
enum class StateComponent { none, parameters, gradients, optimizer_states };
enum class MemoryComponent {
  parameters,
  gradients,
  optimizer_states,
  activations,
  gathered_parameters,
  buckets,
  logits,
  temporaries,
  communication_buffers,
  context
};

// A family of groups that covers the world. Mixed radix, innermost digit first:
// rank = d0 + size0 * (d1 + size1 * (...)); a group = the ranks that differ in `member` digits
// only. Or explicit groups (then `axes` is empty; ranks in no group skip its operations).
struct Communicator {
  struct Axis {
    int size = 1;
    bool member = false;
    bool operator==(const Axis&) const = default;
  };
  std::string name;
  std::vector<Axis> axes;
  std::vector<std::vector<Rank>> groups;

  [[nodiscard]] int group_size() const;  // of the largest group
  [[nodiscard]] int group_count() const;
  // Members of group g in order; the group of a rank (or none) and the rank's index in it.
  [[nodiscard]] std::vector<Rank> members(int group) const;
  struct Membership {
    int group;
    int index;
  };
  [[nodiscard]] std::optional<Membership> membership(Rank rank) const;
  bool operator==(const Communicator&) const = default;
};

struct CollectivePart {
  CollectiveKind kind = CollectiveKind::all_reduce;
  CommId communicator;
  Bytes bytes;  // whole buffer
  Dtype dtype = Dtype::bf16;
  int root = 0;  // index in the group
};

struct MemoryChange {
  MemoryComponent component;
  Bytes delta;    // positive: allocated; negative: freed
  bool at_start;  // at the op's start, else at its end
};

// Restricts an op to the ranks that have this index in their group of a communicator.
struct Role {
  CommId communicator;
  int index;
};

struct Op {
  std::string name;  // unique in the schedule
  Phase phase = Phase::forward;
  int layer = -1;  // -1: not in a layer
  StateComponent component = StateComponent::none;
  StreamId stream;
  std::vector<OpId> after;
  std::vector<Kernel> kernels;               // compute part: run one after another …
  std::optional<CollectivePart> collective;  // … or a collective part; neither = a marker
  std::optional<Role> role;
  std::vector<MemoryChange> memory;
};

struct Block {
  std::string name;  // "micro_batch", "last_micro_batch", "optimizer"
  std::int64_t repeat = 1;
  std::vector<OpId> ops;
};

struct Stream {
  std::string name;
  bool compute = false;  // exposed time is what the compute streams wait
};

struct PersistentMemory {
  MemoryComponent component;
  Bytes bytes;  // of the rank that holds most
};

struct Schedule {
  std::string name;
  int world = 1;
  std::vector<Stream> streams;
  std::vector<Communicator> communicators;
  std::vector<Op> ops;  // OpId = position
  std::vector<Block> blocks;
  std::vector<PersistentMemory> persistent;

  [[nodiscard]] const Op& op(OpId id) const { return ops[id.position()]; }
};

std::string_view name_of(Phase phase);
std::string_view name_of(StateComponent component);
std::string_view name_of(MemoryComponent component);
std::vector<std::string> phase_names();
std::vector<std::string> state_component_names();
std::vector<std::string> memory_component_names();

// Throws InputError with the place of what is wrong (unknown or duplicate names, a group that is
// not a partition, …). A dependency on a later op is one on the repetition or step before.
void check_schedule(const Schedule& schedule, const Place& place = {});

Schedule load_schedule(const std::filesystem::path& file);
Schedule parse_schedule(const JsonValue& json);
std::string to_json(const Schedule& schedule);  // to_json(parse_schedule(to_json(s))) is the same

// For people: one line for each run of ops of one block, phase and layer (golden tests).
std::string to_text(const Schedule& schedule);

}  // namespace amsp
