// SPDX-License-Identifier: Apache-2.0
// What the parts of the schedule generator share: the job and the schedule under construction.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "workloads/generator.hpp"
#include "workloads/model_stages.hpp"

namespace amsp {

struct Job {
  const ModelShape& model;
  const Training& training;
  const Strategy& strategy;
  Mesh data_parallel;
  std::int64_t micro_batches = 1;
  std::vector<Module> modules;
  std::vector<Stage> stages;

  [[nodiscard]] bool parameters_sharded() const { return strategy.parameters.size() > 1; }
  // Gradients are sharded further than parameters, so no GPU keeps all that it computes.
  [[nodiscard]] bool gradients_leave() const { return strategy.gradients != strategy.parameters; }
  // Embedding, last norm and head are gathered, kept and reduced as one.
  [[nodiscard]] bool root_unit() const { return strategy.root_unit && strategy.flat_layers; }
  [[nodiscard]] bool in_root(int module) const {
    return root_unit() && modules[static_cast<std::size_t>(module)].layer < 0;
  }
  // DeepSpeed's stage 3 makes the buffer of the gradients' shards at start-up.
  [[nodiscard]] bool gradients_persist() const {
    return strategy.contiguous_gradients && parameters_sharded();
  }
  // A gathered module that stays from its forward to its backward use.
  [[nodiscard]] bool stays_gathered(int module) const;
  [[nodiscard]] Bytes bytes(int module) const;  // of a whole module in the training dtype
  [[nodiscard]] Bytes all_bytes() const;
};

// Adds ops in program order and resolves what crosses the end of a block or a step.
class ScheduleBuilder {
 public:
  ScheduleBuilder(std::string name, Mesh data_parallel);

  void begin_block(const std::string& name, const std::string& prefix, std::int64_t repeat);
  void end_block();
  // Resolves the dependencies on the end of the previous step, checks, hands over.
  Schedule finish();

  // The ranks that differ between `inner` and `outer`: groups of outer / inner, which lie inside
  // one group of `outer` and each hold one rank of every group of `inner`. None when of one rank.
  std::optional<CommId> communicator(const std::string& name, Mesh inner, Mesh outer);

  // A compute op; waits for `waits` and for everything that hold_compute() named since the last.
  OpId compute(Op op, std::vector<OpId> waits = {});
  void hold_compute(OpId op) { held_.push_back(op); }
  // An op on a communication stream, which starts when the compute stream has come to this point of
  // the program (NCCL's stream waits for an event on it) …
  OpId launch(const std::string& stream, Op op);
  // … or when other ops are.
  OpId launch_after(const std::string& stream, Op op, std::vector<OpId> after);
  void add_dependency(OpId op, OpId after);
  [[nodiscard]] OpId last_compute() const { return *last_compute_; }
  Op& op(OpId id) { return schedule_.ops[id.position()]; }
  std::vector<PersistentMemory>& persistent() { return schedule_.persistent; }
  [[nodiscard]] const std::vector<Communicator>& communicators() const {
    return schedule_.communicators;
  }

 private:
  StreamId stream(const std::string& name, bool compute);
  OpId add(Op op);

  Schedule schedule_;
  Mesh data_parallel_;
  std::string prefix_;
  std::optional<OpId> last_compute_;  // of the program so far
  bool computed_in_block_ = false;
  std::vector<OpId> at_block_start_;  // launched before the block's first compute op
  std::vector<OpId> at_step_start_;   // launched before the step's first compute op
  std::vector<OpId> held_;
};

// Collective of `bytes` (whole buffer); the op's name, phase and layer are the caller's.
Op collective_op(std::string name, Phase phase, int layer, StateComponent component,
                 CollectivePart part);
Kernel elementwise_kernel(Bytes hbm, Dtype dtype);

}  // namespace amsp
