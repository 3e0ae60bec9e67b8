// SPDX-License-Identifier: Apache-2.0
#include "exec/stream_workers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "base/error.hpp"
#include "exec/clock.hpp"

namespace amsp {

StreamWorkers::StreamWorkers(const ExecJob& job, const RankProgram& program, RunOp run_op,
                             OnFailure on_failure)
    : job_(job),
      program_(program),
      run_op_(std::move(run_op)),
      on_failure_(std::move(on_failure)),
      times_(job.schedule.ops.size()),
      ended_(job.schedule.ops.size(), 0),
      streams_(job.schedule.streams.size()) {
  const int steps = job.options.warmup + job.options.steps;
  for (std::size_t op = 0; op < times_.size(); ++op)
    times_[op].resize(static_cast<std::size_t>(steps * program.repeat_of_op[op]));
}

RankTimes StreamWorkers::run() {
  const int steps = job_.options.warmup + job_.options.steps;
  std::vector<std::thread> threads;
  for (std::size_t s = 0; s < streams_.size(); ++s)
    threads.emplace_back([this, s, steps] { work(StreamId(s), steps); });
  for (std::thread& thread : threads) thread.join();
  if (!failure_.empty()) throw CheckFailed(failure_);
  return std::move(times_);
}

bool StreamWorkers::await(const PlannedOp& op, ExecInstance instance, Seconds& ready) {
  std::unique_lock lock(mutex_);
  for (const Wait& wait : op.waits) {
    const std::int64_t count = wait.count(instance);
    if (count <= 0) continue;
    changed_.wait(lock, [&] { return !failure_.empty() || ended_[wait.op.position()] >= count; });
    if (!failure_.empty()) return false;
    ready = std::max(ready, times_[wait.op.position()][static_cast<std::size_t>(count - 1)].end);
  }
  return failure_.empty();
}

void StreamWorkers::finish(const PlannedOp& op, std::int64_t instance, OpTime time) {
  const std::lock_guard lock(mutex_);
  times_[op.op.position()][static_cast<std::size_t>(instance)] = time;
  ++ended_[op.op.position()];
  ++total_ended_;
  changed_.notify_all();
}

void StreamWorkers::work(StreamId stream, int steps) {
  sharpen_timers();
  StreamState& state = streams_[stream.position()];
  Seconds stream_free = now();
  auto run_one = [&](const PlannedOp& op, ExecInstance instance) {
    state.step = instance.step;
    state.op = op.op.index;
    state.waiting = true;
    Seconds ready = stream_free;
    if (!await(op, instance, ready)) return false;
    state.waiting = false;
    const std::int64_t index = program_.index(op.op, instance);
    OpTime time{ready, ready};
    if (op.runs) {
      if (job_.before_op) job_.before_op(program_.rank, op.op);
      state.in_collective = op.membership.has_value();
      time.end = run_op_(op, index, ready);
      state.in_collective = false;
    }
    stream_free = time.end;
    if (!op.runs) time = OpTime{};  // not this rank's: no record, but its successors may go on
    finish(op, index, time);
    state.op = -1;
    return true;
  };
  try {
    for (int step = 0; step < steps; ++step)
      for (const PlannedBlock& block : program_.blocks)
        for (std::int64_t repetition = 0; repetition < block.repeat; ++repetition)
          for (const PlannedOp& op : block.ops)
            if (job_.schedule.op(op.op).stream == stream && !run_one(op, {step, repetition}))
              return;
  } catch (const std::exception& error) {
    const int op = state.op;
    const std::string name = op < 0 ? "no op" : job_.schedule.op(OpId(op)).name;
    const std::string message = fmt::format("op \"{}\": {}", name, error.what());
    if (on_failure_) on_failure_(message);
    const std::lock_guard lock(mutex_);
    if (failure_.empty()) failure_ = message;
    changed_.notify_all();
  }
}

RankState StreamWorkers::state() const {
  RankState result{total_ended_, false, ""};
  bool computes = false;
  for (const StreamState& stream : streams_) {
    const int op = stream.op;
    if (op < 0 || stream.waiting) continue;
    const Op& running = job_.schedule.op(OpId(op));
    result.waiting_for_peers |= stream.in_collective;
    computes |= !stream.in_collective;
    result.doing += fmt::format("{}in op \"{}\" of step {}", result.doing.empty() ? "" : " and ",
                                running.name, stream.step.load());
  }
  result.waiting_for_peers &= !computes;
  if (result.doing.empty()) result.doing = "between ops";
  return result;
}

}  // namespace amsp
