// SPDX-License-Identifier: Apache-2.0
#include "workloads/strategy.hpp"

namespace amsp {

const StrategyPreset* strategy_fsdp();

namespace {

class Hsdp : public StrategyPreset {
 public:
  std::string_view name() const override { return "hsdp"; }
  std::string_view description() const override {
    return "PyTorch FSDP hybrid shard: sharded inside a node, all-reduced across nodes";
  }
  Strategy make(Mesh data_parallel) const override {
    // FSDP's engine, its full shard confined to a node.
    Strategy strategy = strategy_fsdp()->make(Mesh{data_parallel.inside, 1});
    strategy.name = "hsdp";
    return strategy;
  }
};

}  // namespace

const StrategyPreset* strategy_hsdp() {
  static const Hsdp preset;
  return &preset;
}

}  // namespace amsp
