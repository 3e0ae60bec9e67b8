// SPDX-License-Identifier: Apache-2.0
#include "workloads/strategy.hpp"

namespace amsp {
namespace {

class Zero3 : public StrategyPreset {
 public:
  std::string_view name() const override { return "zero3"; }
  std::string_view description() const override {
    return "everything sharded over all GPUs, gathered module by module (DeepSpeed; its default "
           "max_reuse_distance is reuse_distance 2GB)";
  }
  Strategy make(Mesh data_parallel) const override {
    Strategy strategy;
    strategy.name = "zero3";
    strategy.parameters = strategy.gradients = strategy.optimizer = data_parallel;
    strategy.update = ParameterUpdate::none;
    strategy.gather_per_layer = false;
    strategy.gather_per_tensor = true;
    strategy.contiguous_gradients = true;
    strategy.bucket = Bytes(1e9);  // reduce_bucket_size 5e8 elements of bf16: DeepSpeed's default
    strategy.adam = Adam::deepspeed;
    strategy.sub_group = Bytes(2e9);  // sub_group_size 1e9 elements: DeepSpeed's default
    return strategy;
  }
};

}  // namespace

const StrategyPreset* strategy_zero3() {
  static const Zero3 preset;
  return &preset;
}

}  // namespace amsp
