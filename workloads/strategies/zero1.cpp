// SPDX-License-Identifier: Apache-2.0
#include "workloads/strategy.hpp"

namespace amsp {
namespace {

class Zero1 : public StrategyPreset {
 public:
  std::string_view name() const override { return "zero1"; }
  std::string_view description() const override {
    return "optimizer states sharded over all GPUs; all-reduce, then all-gather of parameters";
  }
  Strategy make(Mesh data_parallel) const override {
    Strategy strategy;
    strategy.name = "zero1";
    strategy.optimizer = data_parallel;
    strategy.update = ParameterUpdate::all_gather;
    // "Overlap and contiguous grads are meaningless in stage 1 and are ignored": DeepSpeed's
    // engine.py sets overlap_comm to false whatever the configuration says.
    strategy.overlap_all_reduce = false;
    strategy.bucket = Bytes(1e9);  // reduce_bucket_size 5e8 elements of bf16: DeepSpeed's default
    strategy.adam = Adam::deepspeed;
    return strategy;
  }
};

}  // namespace

const StrategyPreset* strategy_zero1() {
  static const Zero1 preset;
  return &preset;
}

}  // namespace amsp
