// SPDX-License-Identifier: Apache-2.0
#include "workloads/strategy.hpp"

namespace amsp {
namespace {

class Fsdp : public StrategyPreset {
 public:
  std::string_view name() const override { return "fsdp"; }
  std::string_view description() const override {
    return "PyTorch FSDP full shard: one communication stream, two gathers in flight";
  }
  Strategy make(Mesh data_parallel) const override {
    Strategy strategy;
    strategy.name = "fsdp";
    strategy.parameters = strategy.gradients = strategy.optimizer = data_parallel;
    strategy.update = ParameterUpdate::none;
    strategy.single_communication_stream = true;  // one process group for AG and RS
    strategy.flat_layers = true;                  // a FlatParameter for each wrapped layer
    strategy.gathers_in_flight = 2;               // limit_all_gathers
    return strategy;
  }
};

}  // namespace

const StrategyPreset* strategy_fsdp() {
  static const Fsdp preset;
  return &preset;
}

}  // namespace amsp
