// SPDX-License-Identifier: Apache-2.0
#include "workloads/strategy.hpp"

namespace amsp {
namespace {

class Zero2 : public StrategyPreset {
 public:
  std::string_view name() const override { return "zero2"; }
  std::string_view description() const override {
    return "gradients and optimizer states sharded over all GPUs, reduced in every micro-batch";
  }
  Strategy make(Mesh data_parallel) const override {
    Strategy strategy;
    strategy.name = "zero2";
    strategy.gradients = data_parallel;
    strategy.optimizer = data_parallel;
    strategy.update = ParameterUpdate::all_gather;
    strategy.reduction = GradientReduction::reduce_scatter;
    strategy.reduce_every_micro_batch = true;
    strategy.contiguous_gradients = true;
    strategy.bucket = Bytes(1e9);  // reduce_bucket_size 5e8 elements of bf16: DeepSpeed's default
    strategy.adam = Adam::deepspeed;
    return strategy;
  }
};

}  // namespace

const StrategyPreset* strategy_zero2() {
  static const Zero2 preset;
  return &preset;
}

}  // namespace amsp
