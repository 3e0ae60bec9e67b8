// SPDX-License-Identifier: Apache-2.0
#include "workloads/strategy.hpp"

namespace amsp {
namespace {

class Hsdp : public StrategyPreset {
 public:
  std::string_view name() const override { return "hsdp"; }
  std::string_view description() const override {
    return "PyTorch FSDP hybrid shard: sharded inside a node, all-reduced across nodes";
  }
  Strategy make(Mesh data_parallel) const override {
    Strategy strategy;
    strategy.name = "hsdp";
    const Mesh node{data_parallel.inside, 1};
    strategy.parameters = strategy.gradients = strategy.optimizer = node;
    strategy.update = ParameterUpdate::none;
    strategy.single_communication_stream = true;  // one process group for AG and RS
    strategy.flat_layers = true;                  // a FlatParameter for each wrapped layer
    strategy.gathers_in_flight = 2;               // limit_all_gathers
    return strategy;
  }
};

}  // namespace

const StrategyPreset* strategy_hsdp() {
  static const Hsdp preset;
  return &preset;
}

}  // namespace amsp
