// SPDX-License-Identifier: Apache-2.0
#include "sim/analysis.hpp"

#include <algorithm>

#include "base/collective_kind.hpp"
#include "sim/record_graph.hpp"

namespace amsp {
namespace {

// How often the wait before an op that starts at `start` happened: repetitions that were skipped
// repeat those of the period before them. The first op of a repetition begins that period and,
// moved, ends the gap in the records: it counts at the begin, for both.
double times_of(const ReplayResult& result, Seconds start) {
  for (const SkippedRepetitions& skip : result.skipped) {
    const auto count = static_cast<double>(skip.count);
    const Seconds near = skip.period * 1e-9;
    const Seconds resumed = skip.from + skip.period * (1 + count);
    if (start >= resumed - near && start <= resumed + near) return 0;
    if (start >= skip.from - near && start <= skip.from + near) return count + 2;
    if (start > skip.from && start < skip.from + skip.period) return count + 1;
  }
  return 1;
}

bool on_compute_stream(const Schedule& schedule, const OpRecord& record) {
  return schedule.streams[schedule.op(record.op).stream.position()].compute;
}

// The class whose computation ends last; the first of equals.
Rank slowest_rank(const Schedule& schedule, const ReplayResult& result) {
  Rank slowest(0);
  Seconds latest;
  for (const OpRecord& record : result.records) {
    if (!on_compute_stream(schedule, record) || record.end <= latest) continue;
    latest = record.end;
    slowest = record.rank;
  }
  return slowest;
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
    Seconds at = result_.period_start;
    const Seconds end = result_.period_start + result_.step_time;
    for (const OpRecord* record : computing_) {
      if (record->end <= at) continue;
      if (record->start >= end) {
        blame(at, end, *record, 1);
        at = end;
        break;
      }
      if (record->start > at) blame(at, record->start, *record, times_of(result_, record->start));
      at = std::max(at, record->end);
    }
    if (at < end) add("other", end - at, 1);
    return std::move(exposed_);
  }

 private:
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

MemoryTimeline memory_timeline(const Schedule& schedule, const ReplayResult& result) {
  const Rank rank = slowest_rank(schedule, result);
  std::vector<Change> changes;
  for (const OpRecord& record : result.records) {
    if (record.rank != rank) continue;
    for (const MemoryChange& change : schedule.op(record.op).memory)
      changes.push_back(
          {change.at_start ? record.start : record.end, change.component, change.delta});
  }
  std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    if (a.time != b.time) return a.time < b.time;
    return a.delta < b.delta;  // what ends at a moment makes room for what starts at it
  });
  std::map<MemoryComponent, Bytes> held;
  for (const PersistentMemory& memory : schedule.persistent) held[memory.component] += memory.bytes;
  MemoryTimeline timeline;
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

}  // namespace amsp
