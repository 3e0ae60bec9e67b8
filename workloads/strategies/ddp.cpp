// SPDX-License-Identifier: Apache-2.0
#include "workloads/strategy.hpp"

namespace amsp {
namespace {

class Ddp : public StrategyPreset {
 public:
  std::string_view name() const override { return "ddp"; }
  std::string_view description() const override {
    return "plain data parallelism: every GPU holds everything, gradients all-reduced in buckets";
  }
  Strategy make(Mesh data_parallel) const override {
    static_cast<void>(data_parallel);
    Strategy strategy;
    strategy.name = "ddp";
    strategy.update = ParameterUpdate::none;
    strategy.bucket = Bytes(25.0 * 1024 * 1024);  // bucket_cap_mb of DistributedDataParallel
    strategy.adam = Adam::foreach;                // PyTorch's default on a GPU
    return strategy;
  }
};

}  // namespace

const StrategyPreset* strategy_ddp() {
  static const Ddp preset;
  return &preset;
}

}  // namespace amsp
