// SPDX-License-Identifier: Apache-2.0
#include "workloads/full_shard.hpp"

namespace amsp {
namespace {

class Hsdp : public StrategyPreset {
 public:
  std::string_view name() const override { return "hsdp"; }
  std::string_view description() const override {
    return "PyTorch FSDP hybrid shard: sharded inside a node, all-reduced across nodes in the last "
           "micro-batch (FSDP2's set_requires_all_reduce; reduce_every_micro_batch: in each)";
  }
  // FSDP's engine, its full shard confined to a node.
  Strategy make(Mesh data_parallel) const override {
    return full_shard(name(), Mesh{data_parallel.inside, 1});
  }
};

}  // namespace

const StrategyPreset* strategy_hsdp() {
  static const Hsdp preset;
  return &preset;
}

}  // namespace amsp
