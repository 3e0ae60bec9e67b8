// SPDX-License-Identifier: Apache-2.0
#include "sim/analysis.hpp"

#include <algorithm>

#include "base/collective_kind.hpp"
#include "sim/record_graph.hpp"

namespace amsp {
namespace {

// A part of the reported step that was replayed, and how often it happened.
struct Segment {
  Seconds begin, end;
  double times;
};

std::vector<Segment> segments(const ReplayResult& result) {
  std::vector<Segment> parts;
  Seconds at = result.period_start;
  const Seconds end = result.period_start + result.step_time;
  for (const SkippedRepetitions& skip : result.skipped) {
    if (skip.from < at || skip.from >= end) continue;
    if (skip.from > at) parts.push_back({at, skip.from, 1});
    parts.push_back({skip.from, skip.from + skip.period, 1.0 + static_cast<double>(skip.count)});
    at = skip.from + skip.period * (1.0 + static_cast<double>(skip.count));
  }
  if (end > at) parts.push_back({at, end, 1});
  return parts;
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
    for (const Segment& part : segments(result_)) {
      Seconds at = part.begin;
      for (const OpRecord* record : computing_) {
        if (record->end <= at) continue;
        if (record->start >= part.end) break;
        if (record->start > at) blame(at, record->start, *record, part.times);
        at = std::max(at, record->end);
      }
      if (at < part.end) blame_rest(at, part);
    }
    return std::move(exposed_);
  }

 private:
  // After the last computation of a part: the next one is what is waited for.
  void blame_rest(Seconds at, const Segment& part) {
    const auto next = std::find_if(computing_.begin(), computing_.end(),
                                   [&](const OpRecord* r) { return r->start >= part.end; });
    if (next != computing_.end())
      blame(at, part.end, **next, part.times);
    else
      add("other", part.end - at, part.times);
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
