// SPDX-License-Identifier: Apache-2.0
// Program order: the endless sequence of op instances of a schedule (blocks in order, each
// repeated, the whole once per step), and the rule that says which instance a dependency means.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "base/id.hpp"
#include "workloads/schedule.hpp"

namespace amsp {

struct Instance {
  int step = 0;
  int block = 0;
  std::int64_t repetition = 0;
  int position = 0;  // in the block's list of ops
  auto operator<=>(const Instance&) const = default;
};

// The ops of one stream (or communicator) that a rank (or group) takes part in: positions in each
// block, ascending.
struct Lane {
  std::vector<std::vector<int>> positions;
  [[nodiscard]] bool empty() const;
};

class Program {
 public:
  explicit Program(const Schedule& schedule);

  [[nodiscard]] OpId op_at(const Instance& instance) const;
  // The most recent instance of `op` before `instance` in program order, if any.
  [[nodiscard]] std::optional<Instance> most_recent(OpId op, const Instance& instance) const;
  // Smallest instance of the lane that is not before `instance` (which may point one past a list);
  // none when the lane is empty. Runs over all steps without end.
  [[nodiscard]] std::optional<Instance> first_from(const Lane& lane, Instance instance) const;
  [[nodiscard]] std::optional<Instance> next(const Lane& lane, Instance instance) const;
  [[nodiscard]] std::int64_t repeat(int block) const;
  [[nodiscard]] int blocks() const { return static_cast<int>(repeats_.size()); }
  // How often an op runs in one step.
  [[nodiscard]] std::int64_t runs_per_step(OpId op) const;

 private:
  struct Site {
    int block;
    int position;
  };
  std::vector<std::vector<OpId>> ops_;  // by block
  std::vector<std::int64_t> repeats_;
  std::vector<std::vector<Site>> sites_;  // by op, ascending; blocks that never run left out
};

}  // namespace amsp
