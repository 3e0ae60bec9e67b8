// SPDX-License-Identifier: Apache-2.0
#include "workloads/strategy.hpp"

namespace amsp {
namespace {

class Amsp : public StrategyPreset {
 public:
  std::string_view name() const override { return "amsp"; }
  std::string_view description() const override {
    return "P, G and OS sharded independently; by default whole parameters, OS inside a node";
  }
  Strategy make(Mesh data_parallel) const override {
    const Mesh node{data_parallel.inside, 1};
    Strategy strategy;
    strategy.name = "amsp";
    // The setting that motivates AMSP (paper, section III): s_p = s_g = 1, s_os = one node.
    strategy.optimizer = node;
    strategy.inter_tensor_ownership = true;
    return strategy;
  }
};

}  // namespace

const StrategyPreset* strategy_amsp() {
  static const Amsp preset;
  return &preset;
}

}  // namespace amsp
