// SPDX-License-Identifier: Apache-2.0
#include "workloads/strategy.hpp"

namespace amsp {
namespace {

class Mics : public StrategyPreset {
 public:
  std::string_view name() const override { return "mics"; }
  std::string_view description() const override {
    return "sharded in a group (a node), blocking all-reduce across groups at the boundary";
  }
  Strategy make(Mesh data_parallel) const override {
    Strategy strategy;
    strategy.name = "mics";
    const Mesh node{data_parallel.inside, 1};
    strategy.parameters = strategy.gradients = strategy.optimizer = node;
    strategy.update = ParameterUpdate::none;
    strategy.gather_per_layer = false;
    strategy.gather_per_tensor = true;
    strategy.boundary = BoundaryReduction::synchronous;
    strategy.contiguous_gradients = true;
    strategy.bucket = Bytes(1e9);  // reduce_bucket_size 5e8 elements of bf16: DeepSpeed's default
    strategy.adam = Adam::deepspeed;
    strategy.sub_group = Bytes(2e9);  // sub_group_size 1e9 elements: DeepSpeed's default
    return strategy;
  }
};

}  // namespace

const StrategyPreset* strategy_mics() {
  static const Mics preset;
  return &preset;
}

}  // namespace amsp
