// SPDX-License-Identifier: Apache-2.0
#include "exec/program.hpp"

namespace amsp {
namespace {

struct Position {
  std::size_t block = 0, place = 0;
  bool present = false;
};

std::vector<Position> positions_of(const Schedule& schedule) {
  std::vector<Position> positions(schedule.ops.size());
  for (std::size_t b = 0; b < schedule.blocks.size(); ++b)
    for (std::size_t i = 0; i < schedule.blocks[b].ops.size(); ++i)
      positions[schedule.blocks[b].ops[i].position()] = {b, i, true};
  return positions;
}

// The most recent instance of the op at `there` before one at `here`.
Wait most_recent(const Schedule& schedule, OpId op, const Position& there, const Position& here) {
  Wait wait{op, schedule.blocks[there.block].repeat, there.block == here.block, 0};
  wait.lag = wait.same_block ? there.place >= here.place : there.block > here.block;
  return wait;
}

bool takes_part(const Schedule& schedule, const Op& op, Rank rank) {
  if (!op.role) return true;
  const auto membership = schedule.communicators[op.role->communicator.position()].membership(rank);
  return membership && membership->index == op.role->index;
}

// The collectives that precede place `here` on its communicator: the last one before it in its
// block or else in the block's previous repetition, and the last one in the blocks before it (or,
// cyclically, in the previous step).
void wait_for_communicator(const Schedule& schedule, const std::vector<Position>& users,
                           const Position& here, std::vector<Wait>& waits) {
  const Position* same = nullptr;    // before here in the block, else the block's last
  const Position* others = nullptr;  // in the nearest earlier block, cyclically
  auto is_earlier = [&](const Position& p) {
    return p.block == here.block && p.place < here.place;
  };
  for (const Position& p : users) {
    if (p.block == here.block && (!same || is_earlier(p) || !is_earlier(*same))) same = &p;
    if (p.block < here.block) others = &p;
  }
  if (!others && !users.empty() && users.back().block > here.block) others = &users.back();
  for (const Position* p : {same, others})
    if (p)
      waits.push_back(most_recent(schedule, schedule.blocks[p->block].ops[p->place], *p, here));
}

}  // namespace

RankProgram plan_rank(const Schedule& schedule, Rank rank) {
  const std::vector<Position> positions = positions_of(schedule);
  RankProgram program{rank, {}, std::vector<std::int64_t>(schedule.ops.size(), 0)};
  std::vector<std::vector<Position>> users(schedule.communicators.size());  // by communicator
  for (const Block& block : schedule.blocks) {
    PlannedBlock planned{block.repeat, {}};
    for (OpId id : block.ops) {
      const Op& op = schedule.op(id);
      const Position here = positions[id.position()];
      program.repeat_of_op[id.position()] = block.repeat;
      const bool has_role = takes_part(schedule, op, rank);
      PlannedOp step{id, has_role, {}, {}};
      if (op.collective) {
        const std::size_t comm = op.collective->communicator.position();
        step.membership = schedule.communicators[comm].membership(rank);
        step.runs = step.runs && step.membership;
        if (step.runs && block.repeat > 0) users[comm].push_back(here);
      }
      for (OpId dependency : op.after)
        if (has_role && positions[dependency.position()].present)
          step.waits.push_back(
              most_recent(schedule, dependency, positions[dependency.position()], here));
      planned.ops.push_back(std::move(step));
    }
    program.blocks.push_back(std::move(planned));
  }
  for (PlannedBlock& block : program.blocks)
    for (PlannedOp& step : block.ops)
      if (step.runs && step.membership)
        wait_for_communicator(schedule,
                              users[schedule.op(step.op).collective->communicator.position()],
                              positions[step.op.position()], step.waits);
  return program;
}

}  // namespace amsp
