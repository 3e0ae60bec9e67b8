// SPDX-License-Identifier: Apache-2.0
#include "exec/trace.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/median.hpp"
#include "base/units_text.hpp"

namespace amsp {
namespace {

// Where each op's block stands and how often it repeats.
std::vector<std::int64_t> repeats(const Schedule& schedule) {
  std::vector<std::int64_t> result(schedule.ops.size(), 0);
  for (const Block& block : schedule.blocks)
    for (OpId op : block.ops) result[op.position()] = block.repeat;
  return result;
}

void sort_and_shift(ExecTrace& trace, Seconds origin) {
  for (ExecRecord& record : trace.records) {
    record.ready = record.ready - origin;
    record.start = record.start - origin;
    record.end = record.end - origin;
  }
  std::stable_sort(
      trace.records.begin(), trace.records.end(), [](const ExecRecord& a, const ExecRecord& b) {
        return std::tuple(a.rank, a.start, a.end, a.op) < std::tuple(b.rank, b.start, b.end, b.op);
      });
}

// A collective's instance starts when its last member is ready.
Seconds start_of(const Schedule& schedule, const std::vector<RankTimes>& ranks, OpId op,
                 std::size_t instance, std::size_t rank) {
  Seconds start = ranks[rank][op.position()][instance].ready;
  const auto& collective = schedule.op(op).collective;
  if (!collective) return start;
  const Communicator& comm = schedule.communicators[collective->communicator.position()];
  const auto membership = comm.membership(Rank(rank));
  if (!membership) return start;
  for (Rank member : comm.members(membership->group)) {
    const OpTime& time = ranks[member.position()][op.position()][instance];
    if (time.end > Seconds()) start = std::max(start, time.ready);
  }
  return start;
}

nlohmann::ordered_json named(const char* what, int rank, std::size_t stream,
                             const std::string& name) {
  return {{"ph", "M"}, {"name", what}, {"pid", rank}, {"tid", stream}, {"args", {{"name", name}}}};
}

// The records as Chrome trace events (microseconds), with the names of ranks and streams.
nlohmann::ordered_json trace_events(const Schedule& schedule, const ExecTrace& trace) {
  auto events = nlohmann::ordered_json::array();
  for (int rank = 0; rank < trace.ranks; ++rank) {
    events.push_back(named("process_name", rank, 0, "rank " + std::to_string(rank)));
    for (std::size_t s = 0; s < schedule.streams.size(); ++s)
      events.push_back(named("thread_name", rank, s, schedule.streams[s].name));
  }
  for (const ExecRecord& record : trace.records) {
    const Op& op = schedule.op(record.op);
    events.push_back(
        {{"ph", "X"},
         {"name", op.name},
         {"cat", op.collective ? std::string(name_of(op.collective->kind)) : "compute"},
         {"pid", record.rank.index},
         {"tid", op.stream.index},
         {"ts", record.start.value() * 1e6},
         {"dur", (record.end - record.start).value() * 1e6},
         {"args", {{"step", record.step}, {"repetition", record.repetition}}}});
  }
  return events;
}

}  // namespace

ExecTrace make_trace(const ExecJob& job, const std::vector<RankTimes>& ranks) {
  const Schedule& schedule = job.schedule;
  const std::vector<std::int64_t> repeat = repeats(schedule);
  const int steps = job.options.warmup + job.options.steps;
  ExecTrace trace{schedule.name, digest_of(job), job.options.backend, schedule.world, {}, {}, {}};
  std::vector<Seconds> step_end(static_cast<std::size_t>(steps));
  Seconds origin{1e300};  // first readiness of a measured step; of all steps without warm-up
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    for (std::size_t op = 0; op < schedule.ops.size(); ++op)
      for (std::size_t i = 0; i < ranks[rank][op].size(); ++i) {
        const OpTime& time = ranks[rank][op][i];
        if (time.end == Seconds()) continue;
        const auto instance = static_cast<std::int64_t>(i);
        const int step = static_cast<int>(instance / repeat[op]);
        Seconds& last = step_end[static_cast<std::size_t>(step)];
        last = std::max(last, time.end);
        if (step < job.options.warmup) continue;
        origin = std::min(origin, time.ready);
        trace.records.push_back(
            {OpId(op), Rank(rank), step - job.options.warmup, instance % repeat[op], time.ready,
             std::min(time.end, start_of(schedule, ranks, OpId(op), i, rank)), time.end});
      }
  for (int step = job.options.warmup; step < steps; ++step) {
    const auto s = static_cast<std::size_t>(step);
    trace.step_times.push_back(step_end[s] - (s == 0 ? origin : step_end[s - 1]));
  }
  trace.step_time = median(trace.step_times);
  if (!trace.records.empty()) sort_and_shift(trace, origin);
  return trace;
}

std::string to_json(const Schedule& schedule, const ExecTrace& trace) {
  nlohmann::ordered_json json;
  json["format"] = "amsp-exec-trace-1";
  json["schedule"] = trace.schedule;
  json["digest"] = trace.digest;
  json["backend"] = trace.backend;
  json["ranks"] = trace.ranks;
  json["step_time"] = to_text(trace.step_time);
  for (Seconds time : trace.step_times) json["step_times"].push_back(to_text(time));
  json["columns"] = {"op", "rank", "step", "repetition", "ready_s", "start_s", "end_s"};
  auto& records = json["records"] = nlohmann::ordered_json::array();
  for (const ExecRecord& record : trace.records)
    records.push_back({schedule.op(record.op).name, record.rank.index, record.step,
                       record.repetition, record.ready.value(), record.start.value(),
                       record.end.value()});
  json["displayTimeUnit"] = "ms";
  json["traceEvents"] = trace_events(schedule, trace);
  // One record per line: the file stays readable and can be compared line by line.
  std::string text = json.dump(0);
  return text + "\n";
}

std::string pack(const RankTimes& times) {
  std::string bytes;
  auto append = [&](const void* data, std::size_t size) {
    bytes.append(static_cast<const char*>(data), size);
  };
  for (const std::vector<OpTime>& op : times) {
    const std::uint64_t count = op.size();
    append(&count, sizeof count);
    append(op.data(), count * sizeof(OpTime));
  }
  return bytes;
}

RankTimes unpack(const std::string& bytes) {
  RankTimes times;
  std::size_t at = 0;
  while (at < bytes.size()) {
    std::uint64_t count = 0;
    std::memcpy(&count, bytes.data() + at, sizeof count);
    at += sizeof count;
    assert(at + count * sizeof(OpTime) <= bytes.size());
    std::vector<OpTime> op(count);
    if (count > 0)
      std::memcpy(static_cast<void*>(op.data()), bytes.data() + at, count * sizeof(OpTime));
    at += count * sizeof(OpTime);
    times.push_back(std::move(op));
  }
  return times;
}

}  // namespace amsp
