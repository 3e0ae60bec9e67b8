// SPDX-License-Identifier: Apache-2.0
// An engine runs tasks on resources; it knows nothing of streams, communicators or dependencies.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/quantity.hpp"
#include "sim/problem.hpp"

namespace amsp {

// How much is left of a running task, for the comparison of two moments.
struct TaskProgress {
  TaskId task;
  int phase;         // 0 computing, 1 latency, 2 fluid
  double remaining;  // share of the task's work, 0 .. 1
};

class Engine {
 public:
  // Called with the tasks that end at now(); may start others.
  using Finished = std::function<void(std::span<const TaskId>)>;

  virtual ~Engine() = default;
  [[nodiscard]] virtual Seconds now() const = 0;
  // A task id is free again when the task has finished. `work` > 0: time at full speed on an idle
  // GPU. While collectives in their fluid phase hold SMs of the GPU it advances at the rate
  // max(0.05, 1 - sum of sm_share); computations on one GPU at the same time share that equally.
  virtual void start_compute(TaskId task, RankClassId rank, Seconds work) = 0;
  // `jitter` multiplies the wire bytes.
  virtual void start_collective(TaskId task, GroupClassId group, const CollectiveCost& cost,
                                double jitter) = 0;
  // Until nothing is left running.
  virtual void run(const Finished& finished) = 0;
  // Unit-flow bytes moved so far by all tasks, as link classes saw them (payload, not wire).
  [[nodiscard]] virtual std::vector<Bytes> carried() const = 0;
  // What runs now; none when the engine cannot say.
  [[nodiscard]] virtual std::optional<std::vector<TaskProgress>> progress() const = 0;
  [[nodiscard]] virtual std::int64_t events() const = 0;
};

// The least rate at which computation advances beside collectives (stated in docs/model).
inline constexpr double slowest_compute = 0.05;

std::unique_ptr<Engine> make_fluid_engine(const Problem& problem);

}  // namespace amsp
