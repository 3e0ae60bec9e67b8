// SPDX-License-Identifier: Apache-2.0
// Who waited for whom: the records of a replay as a graph.
#pragma once
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "sim/program.hpp"
#include "sim/replay.hpp"

namespace amsp {

class RecordGraph {
 public:
  // Both must outlive the graph. With `only`, the records of that rank class alone are known.
  RecordGraph(const Schedule& schedule, const ReplayResult& result,
              std::optional<Rank> only = std::nullopt);

  // What the start of a record waited for last.
  enum class Reason {
    dependency,    // an op on the same rank
    stream,        // the op before it on its stream
    communicator,  // the op before it on its communicator
    member,        // another member of the group was ready last: its own record of the op
    none           // nothing: it stands at the begin
  };
  struct Cause {
    Reason reason = Reason::none;
    const OpRecord* record = nullptr;
  };
  // Why it was ready no earlier (dependency or stream).
  [[nodiscard]] Cause ready_cause(const OpRecord& record) const;
  // Why it started no earlier: as above unless it waited for a member or its communicator.
  [[nodiscard]] Cause start_cause(const OpRecord& record) const;
  // The record of an instance on a rank (of its class); null where it was not replayed.
  [[nodiscard]] const OpRecord* find(int rank_class, OpId op, const Instance& instance) const;
  [[nodiscard]] int class_of(Rank rank) const;

 private:
  struct Key {
    int rank_class;
    int op;
    int step;
    std::int64_t repetition;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const noexcept;
  };
  [[nodiscard]] Instance instance_of(const OpRecord& record) const;
  [[nodiscard]] const OpRecord* before(const std::vector<OpId>& list, const OpRecord& record) const;

  const Schedule& schedule_;
  const ReplayResult& result_;
  Program program_;
  std::vector<int> position_;                                   // of each op in its block
  std::vector<std::vector<OpId>> on_stream_, on_communicator_;  // in program order
  std::unordered_map<Key, const OpRecord*, Hash> index_;
};

}  // namespace amsp
