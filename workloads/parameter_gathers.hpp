// SPDX-License-Identifier: Apache-2.0
// All-gathers of sharded parameters in one forward or backward pass: when each is launched, what
// waits for it, when its buffer is freed (AMSP, V; docs/model/40-schedule.md).
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "workloads/job.hpp"

namespace amsp {

class ParameterGathers {
 public:
  // `order`: the modules in the order of this pass.
  ParameterGathers(const Job& job, ScheduleBuilder& builder, Phase phase, std::vector<int> order);

  // Call before the first op that uses the module: launches what the prefetch rule lets launch
  // now. Returns what the op must wait for.
  std::optional<OpId> before(int module);
  // Call behind the last op that uses the module: its gathered copy is freed at the end of `op`.
  void after(int module, OpId op);
  // The launched gathers, for dependencies on the parameter update of the previous step.
  [[nodiscard]] const std::map<int, OpId>& first_ops() const { return first_ops_; }

 private:
  struct Unit {
    std::vector<int> modules;
  };
  // Ops that follow each other on the gather stream; the first follows the last compute op.
  struct Chain {
    std::string name;
    int layer = -1;
    OpId begin, end;
  };
  void launch_unit(const Unit& unit);
  void launch(const std::vector<int>& modules);
  void append(Chain& chain, Op op);
  void append_gather(Chain& chain, const std::string& suffix, std::optional<CommId> communicator,
                     Bytes bytes, Dtype dtype);
  void append_kernel(Chain& chain, const std::string& suffix, Bytes hbm);
  void all_gather(Chain& chain, Bytes bytes, Dtype dtype);
  [[nodiscard]] std::vector<Bytes> parts(const std::vector<int>& modules) const;
  [[nodiscard]] Mesh mesh() const;
  [[nodiscard]] std::string stream() const;
  [[nodiscard]] bool per_layer() const;

  const Job& job_;
  ScheduleBuilder& builder_;
  Phase phase_;
  std::vector<Unit> units_;
  std::map<int, std::size_t> unit_of_;
  std::size_t launched_ = 0;
  std::map<int, OpId> ready_;      // module → the op that completes its gather
  std::map<int, OpId> first_ops_;  // module → the op that begins it
};

}  // namespace amsp
