// SPDX-License-Identifier: Apache-2.0
// The instances of operations that start in the reported period of a replay, and which instance
// each of them waits for (workloads/schedule.hpp, "program order").
#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "sim/replay.hpp"
#include "workloads/schedule.hpp"

namespace amsp {

class Instances {
 public:
  Instances(const Schedule& schedule, const ReplayResult& result);

  // In ascending order of start.
  [[nodiscard]] const std::vector<OpRecord>& records() const { return records_; }
  // Position in records() of the instance of `before` that `record` depends on; nothing when it
  // lies outside the period or was not replayed one by one.
  [[nodiscard]] std::optional<std::size_t> predecessor(const OpRecord& record, OpId before) const;
  // The block of an op.
  [[nodiscard]] const Block& block_of(OpId op) const;

 private:
  struct Where {
    std::size_t block = 0;
    std::size_t position = 0;
  };
  using Key = std::tuple<OpId, Rank, int, std::int64_t>;  // op, rank, step, repetition
  const Schedule& schedule_;
  std::vector<Where> where_;
  std::vector<OpRecord> records_;
  std::map<Key, std::size_t> index_;
};

}  // namespace amsp
