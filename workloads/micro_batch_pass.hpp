// SPDX-License-Identifier: Apache-2.0
// The forward and backward pass of one micro-batch as ops.
#pragma once
#include <map>
#include <utility>
#include <vector>

#include "workloads/gradient_reducer.hpp"
#include "workloads/parameter_gathers.hpp"

namespace amsp {

class MicroBatchPass {
 public:
  MicroBatchPass(const Job& job, ScheduleBuilder& builder, MicroBatch micro_batch);
  void build();
  // Ops that must not start before a module's parameters are updated: (module, op).
  [[nodiscard]] const std::vector<std::pair<int, OpId>>& first_uses() const { return first_uses_; }

 private:
  [[nodiscard]] Op op(const Stage& stage, Phase phase, const std::string& suffix,
                      const std::vector<Kernel>& kernels) const;
  void forward();
  void forward_stage(std::size_t index);
  void keep_or_drop(std::size_t index, OpId op);
  void backward();
  void recompute_layer(std::size_t last_stage);
  void backward_stage(std::size_t index);
  void free_module(const Stage& stage, OpId op);
  [[nodiscard]] bool recomputed(const Stage& stage) const;

  const Job& job_;
  ScheduleBuilder& builder_;
  ParameterGathers forward_gathers_, backward_gathers_;
  GradientReducer reducer_;
  std::vector<std::pair<int, OpId>> first_uses_;
};

}  // namespace amsp
