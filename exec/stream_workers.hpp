// SPDX-License-Identifier: Apache-2.0
// Runs a rank's program with one thread per stream. What an op does is the caller's: a function
// that blocks until the op has ended.
#pragma once
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "exec/control_link.hpp"
#include "exec/job.hpp"
#include "exec/program.hpp"
#include "exec/trace.hpp"

namespace amsp {

class StreamWorkers {
 public:
  // Called on the stream's thread when the op may start; `ready` is when it could have started.
  // Returns when it ended.
  using RunOp = std::function<Seconds(const PlannedOp& op, std::int64_t instance, Seconds ready)>;

  // Called with the op's name and what it threw, on the stream's thread and before anything is
  // taken down, so that other ranks do not notice first. It need not return.
  using OnFailure = std::function<void(const std::string&)>;

  StreamWorkers(const ExecJob& job, const RankProgram& program, RunOp run_op,
                OnFailure on_failure = {});
  // Runs all steps; throws CheckFailed with the first failure.
  RankTimes run();
  // What the rank is doing now (from any thread).
  [[nodiscard]] RankState state() const;

 private:
  struct StreamState {
    std::atomic<int> op{-1};  // running op, -1 = none
    std::atomic<int> step{0};
    std::atomic<bool> waiting{false};  // for dependencies
    std::atomic<bool> in_collective{false};
  };
  void work(StreamId stream, int steps);
  // Waits for the dependencies; the moment from which the op could start, false = give up.
  bool await(const PlannedOp& op, ExecInstance instance, Seconds& ready);
  void finish(const PlannedOp& op, std::int64_t instance, OpTime time);

  const ExecJob& job_;
  const RankProgram& program_;
  RunOp run_op_;
  OnFailure on_failure_;
  RankTimes times_;
  std::vector<std::int64_t> ended_;  // instances, by op
  std::vector<StreamState> streams_;
  std::atomic<std::int64_t> total_ended_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string failure_;
};

}  // namespace amsp
