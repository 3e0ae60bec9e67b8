// SPDX-License-Identifier: Apache-2.0
#include "sim/program.hpp"

#include <algorithm>
#include <cassert>

namespace amsp {

bool Lane::empty() const {
  return std::all_of(positions.begin(), positions.end(), [](const auto& p) { return p.empty(); });
}

Program::Program(const Schedule& schedule) : sites_(schedule.ops.size()) {
  for (std::size_t b = 0; b < schedule.blocks.size(); ++b) {
    const Block& block = schedule.blocks[b];
    ops_.push_back(block.ops);
    repeats_.push_back(std::max<std::int64_t>(block.repeat, 0));
    if (block.repeat <= 0) continue;
    for (std::size_t p = 0; p < block.ops.size(); ++p)
      sites_[block.ops[p].position()].push_back({static_cast<int>(b), static_cast<int>(p)});
  }
}

OpId Program::op_at(const Instance& instance) const {
  return ops_[static_cast<std::size_t>(instance.block)]
             [static_cast<std::size_t>(instance.position)];
}

std::int64_t Program::repeat(int block) const { return repeats_[static_cast<std::size_t>(block)]; }

std::int64_t Program::runs_per_step(OpId op) const {
  std::int64_t runs = 0;
  for (const Site& site : sites_[op.position()]) runs += repeat(site.block);
  return runs;
}

std::optional<Instance> Program::most_recent(OpId op, const Instance& instance) const {
  const std::vector<Site>& sites = sites_[op.position()];
  const Site* same_repetition = nullptr;
  const Site* same_block = nullptr;
  const Site* earlier_block = nullptr;
  for (const Site& site : sites) {  // ascending: the last match is the most recent
    if (site.block == instance.block) {
      same_block = &site;
      if (site.position < instance.position) same_repetition = &site;
    } else if (site.block < instance.block) {
      earlier_block = &site;
    }
  }
  const auto last = [this](int step, const Site& site) {
    return Instance{step, site.block, repeat(site.block) - 1, site.position};
  };
  if (same_repetition)
    return Instance{instance.step, instance.block, instance.repetition, same_repetition->position};
  if (same_block && instance.repetition > 0)
    return Instance{instance.step, instance.block, instance.repetition - 1, same_block->position};
  if (earlier_block) return last(instance.step, *earlier_block);
  if (!sites.empty() && instance.step > 0) return last(instance.step - 1, sites.back());
  return std::nullopt;
}

std::optional<Instance> Program::first_from(const Lane& lane, Instance at) const {
  const int blocks_after_a_whole_step = blocks() + 1;
  for (int tried = 0; tried <= blocks_after_a_whole_step; ++tried) {
    if (at.block >= blocks()) at = {at.step + 1, 0, 0, 0};
    const auto& list = lane.positions[static_cast<std::size_t>(at.block)];
    if (!list.empty() && at.repetition < repeat(at.block)) {
      const auto found = std::lower_bound(list.begin(), list.end(), at.position);
      if (found != list.end()) {
        at.position = *found;
        return at;
      }
      if (at.repetition + 1 < repeat(at.block))
        return Instance{at.step, at.block, at.repetition + 1, list.front()};
    }
    at = {at.step, at.block + 1, 0, 0};
  }
  return std::nullopt;
}

std::optional<Instance> Program::next(const Lane& lane, Instance at) const {
  ++at.position;
  return first_from(lane, at);
}

}  // namespace amsp
