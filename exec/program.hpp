// SPDX-License-Identifier: Apache-2.0
// A schedule as one rank runs it: what each stream does, and which earlier instances an op waits
// for. The rules are those of workloads/schedule.hpp, the same as the simulator's: program order,
// the most recent earlier instance of a dependency, one order per communicator.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "base/id.hpp"
#include "workloads/schedule.hpp"

namespace amsp {

// Where an instance of an op stands: training step and repetition of its block.
struct ExecInstance {
  int step = 0;
  std::int64_t repetition = 0;
};

// "So many instances of `op` must have ended."
struct Wait {
  OpId op;
  std::int64_t repeat = 1;  // of the awaited op's block
  bool same_block = false;
  int lag = 0;  // 1: the previous repetition (same block) or the previous step
  [[nodiscard]] std::int64_t count(ExecInstance instance) const {
    return same_block ? instance.step * repeat + instance.repetition + 1 - lag
                      : (instance.step + 1 - lag) * repeat;
  }
};

struct PlannedOp {
  OpId op;
  // False: another rank's role (which waits for nothing) or no group of the communicator. Such an
  // op ends as soon as its stream comes to it.
  bool runs = true;
  std::optional<Communicator::Membership> membership;  // of the collective
  std::vector<Wait> waits;
};

struct PlannedBlock {
  std::int64_t repeat = 1;
  std::vector<PlannedOp> ops;  // in program order
};

struct RankProgram {
  Rank rank;
  std::vector<PlannedBlock> blocks;
  std::vector<std::int64_t> repeat_of_op;  // 0 for an op in no block

  [[nodiscard]] std::int64_t index(OpId op, ExecInstance instance) const {
    return instance.step * repeat_of_op[op.position()] + instance.repetition;
  }
};

RankProgram plan_rank(const Schedule& schedule, Rank rank);

}  // namespace amsp
