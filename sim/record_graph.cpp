// SPDX-License-Identifier: Apache-2.0
#include "sim/record_graph.hpp"

#include <algorithm>
#include <set>

#include "sim/jitter.hpp"

namespace amsp {

std::size_t RecordGraph::Hash::operator()(const Key& key) const noexcept {
  std::uint64_t hash = mix64(static_cast<std::uint64_t>(key.rank_class));
  for (const std::int64_t part : {std::int64_t{key.op}, std::int64_t{key.step}, key.repetition})
    hash = mix64(hash ^ static_cast<std::uint64_t>(part));
  return static_cast<std::size_t>(hash);
}

RecordGraph::RecordGraph(const Schedule& schedule, const ReplayResult& result,
                         std::optional<Rank> only)
    : schedule_(schedule),
      result_(result),
      program_(schedule),
      position_(schedule.ops.size()),
      on_stream_(schedule.streams.size()),
      on_communicator_(schedule.communicators.size()) {
  for (const Block& block : schedule.blocks)
    for (std::size_t p = 0; p < block.ops.size(); ++p) {
      const OpId id = block.ops[p];
      const Op& op = schedule.op(id);
      position_[id.position()] = static_cast<int>(p);
      on_stream_[op.stream.position()].push_back(id);
      if (op.collective) on_communicator_[op.collective->communicator.position()].push_back(id);
    }
  for (const OpRecord& record : result.records)
    if (!only || record.rank == *only)
      index_[{class_of(record.rank), record.op.index, record.step, record.repetition}] = &record;
}

int RecordGraph::class_of(Rank rank) const { return result_.class_of_rank[rank.position()]; }

Instance RecordGraph::instance_of(const OpRecord& record) const {
  return {record.step, record.block, record.repetition, position_[record.op.position()]};
}

const OpRecord* RecordGraph::find(int rank_class, OpId op, const Instance& instance) const {
  const auto found = index_.find({rank_class, op.index, instance.step, instance.repetition});
  return found == index_.end() ? nullptr : found->second;
}

// The last instance on the same rank, before the record, of any op of a list. Ops that the rank
// does not take part in have no record and are passed over.
const OpRecord* RecordGraph::before(const std::vector<OpId>& list, const OpRecord& record) const {
  const Instance at = instance_of(record);
  const auto own = std::find(list.begin(), list.end(), record.op);
  const auto distance = static_cast<std::size_t>(own - list.begin());
  for (std::size_t back = 1; back <= list.size(); ++back) {
    const OpId op = list[(distance + list.size() - back) % list.size()];
    const auto instance = program_.most_recent(op, at);
    if (!instance) continue;
    const bool left_repetition =
        instance->block != at.block || instance->repetition != at.repetition;
    if (record.repetition > 0 && left_repetition) break;
    if (const OpRecord* found = find(class_of(record.rank), op, *instance)) return found;
  }
  const OpRecord* latest = nullptr;  // across the border of a repetition: ask all
  for (const OpId op : list)
    if (const auto instance = program_.most_recent(op, at)) {
      const OpRecord* found = find(class_of(record.rank), op, *instance);
      if (found && (!latest || found->end > latest->end)) latest = found;
    }
  return latest;
}

RecordGraph::Cause RecordGraph::ready_cause(const OpRecord& record) const {
  Cause cause;
  const Instance at = instance_of(record);
  const int rank = class_of(record.rank);
  for (const OpId op : schedule_.op(record.op).after)
    if (const auto instance = program_.most_recent(op, at)) {
      const OpRecord* other = find(rank, op, *instance);
      if (other && (!cause.record || other->end > cause.record->end))
        cause = {Reason::dependency, other};
    }
  const StreamId stream = schedule_.op(record.op).stream;
  const OpRecord* other = before(on_stream_[stream.position()], record);
  if (other && (!cause.record || other->end > cause.record->end)) cause = {Reason::stream, other};
  return cause;
}

RecordGraph::Cause RecordGraph::start_cause(const OpRecord& record) const {
  const Op& op = schedule_.op(record.op);
  if (!op.collective || record.start <= record.ready) return ready_cause(record);
  const Instance at = instance_of(record);
  const Communicator& communicator =
      schedule_.communicators[op.collective->communicator.position()];
  const OpRecord* previous =
      before(on_communicator_[op.collective->communicator.position()], record);
  Cause last;
  const auto membership = communicator.membership(record.rank);
  if (membership) {
    std::set<int> classes;
    for (const Rank rank : communicator.members(membership->group)) classes.insert(class_of(rank));
    for (const int rank : classes) {
      const OpRecord* member = find(rank, record.op, at);
      if (member && (!last.record || member->ready > last.record->ready))
        last = {Reason::member, member};
    }
  }
  if (previous && (!last.record || previous->end >= last.record->ready))
    return {Reason::communicator, previous};
  return last.record ? last : ready_cause(record);
}

}  // namespace amsp
