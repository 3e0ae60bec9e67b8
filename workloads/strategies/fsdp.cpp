// SPDX-License-Identifier: Apache-2.0
#include "workloads/full_shard.hpp"

namespace amsp {
namespace {

class Fsdp : public StrategyPreset {
 public:
  std::string_view name() const override { return "fsdp"; }
  std::string_view description() const override {
    return "PyTorch FSDP full shard: one communication stream, two gathers in flight";
  }
  Strategy make(Mesh data_parallel) const override { return full_shard(name(), data_parallel); }
};

}  // namespace

const StrategyPreset* strategy_fsdp() {
  static const Fsdp preset;
  return &preset;
}

}  // namespace amsp
