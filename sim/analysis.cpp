// SPDX-License-Identifier: Apache-2.0
#include "sim/analysis.hpp"

#include <algorithm>

#include "base/collective_kind.hpp"
#include "sim/record_graph.hpp"

namespace amsp {
namespace {

// Where the skipped repetitions lie between two computations of one rank.
struct Gap {
  const OpRecord* first;    // of the last period before the gap
  const OpRecord* resumed;  // after it
  Seconds begin;            // end of the computation before it
  double count;             // repetitions skipped
};

bool on_compute_stream(const Schedule& schedule, const OpRecord& record) {
  return schedule.streams[schedule.op(record.op).stream.position()].compute;
}

// The rank whose computation ends last; of equals the lowest, which is the same one whether or not
// ranks are folded (a class is represented by its lowest).
Rank slowest_rank(const Schedule& schedule, const ReplayResult& result) {
  Seconds latest;
  for (const OpRecord& record : result.records)
    if (on_compute_stream(schedule, record)) latest = std::max(latest, record.end);
  Rank slowest;
  for (const OpRecord& record : result.records) {
    const bool last = record.end >= latest * (1 - 1e-12);
    if (last && on_compute_stream(schedule, record) && (!slowest.valid() || record.rank < slowest))
      slowest = record.rank;
  }
  return slowest.valid() ? slowest : Rank(0);
}

class Exposure {
 public:
  Exposure(const Schedule& schedule, const ReplayResult& result)
      : schedule_(schedule),
        result_(result),
        rank_(slowest_rank(schedule, result)),
        graph_(schedule, result, rank_) {}

  ExposedCommunication run() {
    for (const OpRecord& record : result_.records)
      if (record.rank == rank_ && on_compute_stream(schedule_, record))
        computing_.push_back(&record);  // in order of start
    find_gaps();
    Seconds at = result_.period_start;
    const Seconds end = result_.period_start + result_.step_time;
    for (const OpRecord* record : computing_) {
      if (record->end <= at) continue;
      if (record->start >= end) {
        blame(at, end, *record, 1);
        at = end;
        break;
      }
      if (record->start > at) blame(at, record->start, *record, times_of(record));
      at = std::max(at, record->end);
    }
    if (at < end) blame_tail(at, end);
    return std::move(exposed_);
  }

 private:
  // The rank's own place of each skip: its phase may differ from that of the rank whose repetitions
  // were counted, so the gap is the first one that holds the time that was skipped.
  void find_gaps() {
    for (const SkippedRepetitions& skip : result_.skipped) {
      const auto count = static_cast<double>(skip.count);
      const Seconds jump = skip.period * count;
      Seconds before = skip.from;
      for (const OpRecord* record : computing_) {
        if (record->end <= skip.from) continue;
        if (record->start - before >= jump * (1 - 1e-9)) {
          gaps_.push_back({first_after(before - skip.period * (1 + 1e-9)), record, before, count});
          break;
        }
        before = std::max(before, record->end);
      }
    }
  }

  [[nodiscard]] const OpRecord* first_after(Seconds time) const {
    for (const OpRecord* record : computing_)
      if (record->start > time) return record;
    return nullptr;
  }

  // How often the wait before this op happened: the skipped repetitions are the rank's last period
  // before its gap again. The wait in the gap itself is that before the period's first op; it
  // counts there, since the records of what it waited for lie before the gap.
  [[nodiscard]] double times_of(const OpRecord* record) const {
    for (const Gap& gap : gaps_) {
      if (record == gap.resumed) return 0;
      if (record == gap.first) return gap.count + 2;
      if (record->start > gap.first->start && record->start <= gap.begin) return gap.count + 1;
    }
    return 1;
  }

  // No computation follows (the only step replayed, whose updates would run beside the next one's
  // forward pass): what the rank does last is waited for by the end itself.
  void blame_tail(Seconds begin, Seconds end) {
    const OpRecord* last = nullptr;
    for (const OpRecord& record : result_.records) {
      if (record.rank != rank_ || record.end > end || record.end <= begin) continue;
      if (!last || record.end > last->end) last = &record;
    }
    if (!last) return add("other", end - begin, 1);
    const Seconds from = std::max(begin, last->ready);
    const Op& op = schedule_.op(last->op);
    add(op.collective ? std::string(name_of(op.collective->kind)) : "other", last->end - from, 1);
    if (end > last->end) add("other", end - last->end, 1);
    if (from > begin) blame(begin, from, *last, 1);
  }

  // From `end` back to `begin` along what the op waited for: the time from when a collective was
  // ready to its end is blamed on it.
  void blame(Seconds begin, Seconds end, const OpRecord& waiting, double times) {
    const OpRecord* at = &waiting;
    while (end > begin) {
      const OpRecord* cause = graph_.ready_cause(*at).record;
      if (!cause || cause == at) break;
      const Seconds from = std::max(begin, cause->ready);
      const Seconds to = std::min(end, cause->end);
      if (to > from) {
        const Op& op = schedule_.op(cause->op);
        add(op.collective ? std::string(name_of(op.collective->kind)) : "other", to - from, times);
        if (end > to) add("other", end - to, times);
        end = from;
      }
      at = cause;
    }
    if (end > begin) add("other", end - begin, times);
  }

  void add(const std::string& what, Seconds time, double times) {
    if (times == 0) return;
    exposed_.by_collective[what] += time * times;
    exposed_.total += time * times;
  }

  const Schedule& schedule_;
  const ReplayResult& result_;
  Rank rank_;
  RecordGraph graph_;
  std::vector<const OpRecord*> computing_;
  std::vector<Gap> gaps_;
  ExposedCommunication exposed_;
};

struct Change {
  Seconds time;
  MemoryComponent component;
  Bytes delta;
};

}  // namespace

ExposedCommunication exposed_communication(const Schedule& schedule, const ReplayResult& result) {
  return Exposure(schedule, result).run();
}

namespace {

// Of one rank: what it holds from the start of the schedule on, over the reported step.
MemoryTimeline timeline_of(const Schedule& schedule, const ReplayResult& result, Rank rank,
                           std::vector<Change> changes) {
  std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    if (a.time != b.time) return a.time < b.time;
    return a.delta < b.delta;  // what ends at a moment makes room for what starts at it
  });
  std::map<MemoryComponent, Bytes> held;
  for (const PersistentMemory& memory : schedule.persistent) held[memory.component] += memory.bytes;
  MemoryTimeline timeline;
  timeline.rank = rank;
  const auto total = [&] {
    Bytes sum;
    for (const auto& [component, bytes] : held) sum += bytes;
    return sum;
  };
  const Seconds begin = result.period_start;
  const Seconds end = result.period_start + result.step_time;
  const auto note = [&](Seconds time) {
    const Bytes now = total();
    timeline.points.push_back({time, now});
    if (now <= timeline.peak) return;
    timeline.peak = now;
    timeline.peak_time = time;
    timeline.at_peak = held;
  };
  bool inside = false;
  for (const Change& change : changes) {
    if (!inside && change.time >= begin) {
      inside = true;
      note(begin);
    }
    if (change.time > end) break;
    held[change.component] += change.delta;
    if (inside) note(change.time);
  }
  if (!inside) note(begin);
  return timeline;
}

}  // namespace

MemoryTimeline memory_timeline(const Schedule& schedule, const ReplayResult& result) {
  std::map<int, std::vector<const OpRecord*>> of_rank;
  for (const OpRecord& record : result.records)
    if (!schedule.op(record.op).memory.empty()) of_rank[record.rank.index].push_back(&record);
  const Rank slowest = slowest_rank(schedule, result);
  of_rank[slowest.index];  // a step without changes has what is held all the time
  const auto timeline = [&](int rank) {
    std::vector<Change> changes;
    for (const OpRecord* record : of_rank[rank])
      for (const MemoryChange& change : schedule.op(record->op).memory)
        changes.push_back(
            {change.at_start ? record->start : record->end, change.component, change.delta});
    return timeline_of(schedule, result, Rank(rank), std::move(changes));
  };
  MemoryTimeline fullest = timeline(slowest.index);
  for (const auto& [rank, records] : of_rank) {
    if (rank == slowest.index) continue;
    MemoryTimeline other = timeline(rank);
    if (other.peak > fullest.peak) fullest = std::move(other);
  }
  return fullest;
}

}  // namespace amsp
