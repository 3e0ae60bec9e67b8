// SPDX-License-Identifier: Apache-2.0
#include "workloads/strategy.hpp"

namespace amsp {
namespace {

class Zeropp : public StrategyPreset {
 public:
  std::string_view name() const override { return "zeropp"; }
  std::string_view description() const override {
    return "ZeRO-3 whose backward gathers inside a node (hpZ); quantisation is off by default";
  }
  Strategy make(Mesh data_parallel) const override {
    Strategy strategy;
    strategy.name = "zeropp";
    strategy.parameters = strategy.gradients = strategy.optimizer = data_parallel;
    strategy.update = ParameterUpdate::none;
    strategy.gather_per_layer = false;
    strategy.gather_per_tensor = true;
    // AMSP's setting of ZeRO++: the secondary shard only (paper, section VI-A). One GPU a node
    // would be zero_hpz_partition_size 1, which is off by DeepSpeed's configuration.
    if (data_parallel.inside > 1) strategy.secondary = {data_parallel.inside, 1};
    strategy.contiguous_gradients = true;
    strategy.bucket = Bytes(1e9);  // reduce_bucket_size 5e8 elements of bf16: DeepSpeed's default
    strategy.adam = Adam::deepspeed;
    strategy.sub_group = Bytes(2e9);  // sub_group_size 1e9 elements: DeepSpeed's default
    return strategy;
  }
};

}  // namespace

const StrategyPreset* strategy_zeropp() {
  static const Zeropp preset;
  return &preset;
}

}  // namespace amsp
