// SPDX-License-Identifier: Apache-2.0
#include "report/instances.hpp"

#include <algorithm>

namespace amsp {

Instances::Instances(const Schedule& schedule, const ReplayResult& result)
    : schedule_(schedule), where_(schedule.ops.size()) {
  for (std::size_t block = 0; block < schedule.blocks.size(); ++block)
    for (std::size_t i = 0; i < schedule.blocks[block].ops.size(); ++i)
      where_[schedule.blocks[block].ops[i].position()] = {block, i};
  const Seconds end = result.period_start + result.step_time;
  for (const OpRecord& record : result.records)
    if (record.start >= result.period_start && record.start < end) records_.push_back(record);
  std::stable_sort(records_.begin(), records_.end(),
                   [](const OpRecord& a, const OpRecord& b) { return a.start < b.start; });
  for (std::size_t i = 0; i < records_.size(); ++i) {
    const OpRecord& record = records_[i];
    index_.emplace(Key{record.op, record.rank, record.step, record.repetition}, i);
  }
}

std::optional<std::size_t> Instances::predecessor(const OpRecord& record, OpId before) const {
  const Where here = where_[record.op.position()], there = where_[before.position()];
  int step = record.step;
  std::int64_t repetition = schedule_.blocks[there.block].repeat - 1;
  if (there.block == here.block) {
    repetition = record.repetition - (there.position < here.position ? 0 : 1);
    if (repetition < 0) {
      --step;
      repetition = schedule_.blocks[there.block].repeat - 1;
    }
  } else if (there.block > here.block) {
    --step;
  }
  const auto found = index_.find(Key{before, record.rank, step, repetition});
  if (found == index_.end()) return std::nullopt;
  return found->second;
}

const Block& Instances::block_of(OpId op) const {
  return schedule_.blocks[where_[op.position()].block];
}

}  // namespace amsp
