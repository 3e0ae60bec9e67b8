// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cassert>
#include <utility>

#include "workloads/job.hpp"

namespace amsp {

Bytes Job::bytes(int module) const {
  return size_of(training.dtype) *
         static_cast<double>(modules[static_cast<std::size_t>(module)].parameters());
}

bool Job::stays_gathered(int module) const {
  if (in_root(module)) return true;
  Bytes between;  // used once forward and once backward
  // Asked of every module: ends where the answer is known, or a deep model costs the square.
  for (int next = module + 1;
       next < static_cast<int>(modules.size()) && between < strategy.reuse_distance; ++next)
    between += 2 * bytes(next);
  return between < strategy.reuse_distance;
}

Bytes Job::all_bytes() const { return size_of(training.dtype) * parameter_count(model); }

Op collective_op(std::string name, Phase phase, int layer, StateComponent component,
                 CollectivePart part) {
  Op op;
  op.name = std::move(name);
  op.phase = phase;
  op.layer = layer;
  op.component = component;
  op.collective = part;
  return op;
}

Kernel elementwise_kernel(Bytes hbm, Dtype dtype) {
  Kernel kernel;
  kernel.kind = KernelClass::elementwise;
  kernel.dtype = dtype;
  kernel.hbm = hbm;
  return kernel;
}

ScheduleBuilder::ScheduleBuilder(std::string name, Mesh data_parallel)
    : data_parallel_(data_parallel) {
  schedule_.name = std::move(name);
  schedule_.world = data_parallel.size();
}

void ScheduleBuilder::begin_block(const std::string& name, const std::string& prefix,
                                  std::int64_t repeat) {
  schedule_.blocks.push_back({name, repeat, {}});
  prefix_ = prefix;
  computed_in_block_ = false;
  at_block_start_.clear();
}

void ScheduleBuilder::end_block() {
  assert(computed_in_block_);
  // In a repetition the block follows itself.
  if (schedule_.blocks.back().repeat > 1)
    for (const OpId op : at_block_start_) add_dependency(op, *last_compute_);
}

Schedule ScheduleBuilder::finish() {
  assert(held_.empty() && last_compute_);
  for (const OpId op : at_step_start_) add_dependency(op, *last_compute_);
  check_schedule(schedule_, {schedule_.name, ""});
  return std::move(schedule_);
}

std::optional<CommId> ScheduleBuilder::communicator(const std::string& name, Mesh inner,
                                                    Mesh outer) {
  if (inner.size() == outer.size()) return std::nullopt;
  const auto& known = schedule_.communicators;
  for (std::size_t i = 0; i < known.size(); ++i)
    if (known[i].name == name) return CommId(i);
  Communicator communicator;
  communicator.name = name;
  const auto dimension = [&](int from, int to, int all) {
    for (const auto& axis : {Communicator::Axis{from, false}, Communicator::Axis{to / from, true},
                             Communicator::Axis{all / to, false}})
      if (axis.size > 1) communicator.axes.push_back(axis);
  };
  dimension(inner.inside, outer.inside, data_parallel_.inside);
  dimension(inner.across, outer.across, data_parallel_.across);
  schedule_.communicators.push_back(std::move(communicator));
  return CommId(schedule_.communicators.size() - 1);
}

StreamId ScheduleBuilder::stream(const std::string& name, bool compute) {
  const auto& known = schedule_.streams;
  for (std::size_t i = 0; i < known.size(); ++i)
    if (known[i].name == name) return StreamId(i);
  schedule_.streams.push_back({name, compute});
  return StreamId(schedule_.streams.size() - 1);
}

OpId ScheduleBuilder::add(Op op) {
  op.name = prefix_ + op.name;
  const OpId id(schedule_.ops.size());
  schedule_.ops.push_back(std::move(op));
  schedule_.blocks.back().ops.push_back(id);
  return id;
}

void ScheduleBuilder::add_dependency(OpId op, OpId after) {
  auto& list = schedule_.ops[op.position()].after;
  if (std::find(list.begin(), list.end(), after) == list.end()) list.push_back(after);
}

OpId ScheduleBuilder::compute(Op op, std::vector<OpId> waits) {
  op.stream = stream("compute", true);
  const OpId id = add(std::move(op));
  for (const OpId wait : waits) add_dependency(id, wait);
  for (const OpId wait : held_) add_dependency(id, wait);
  held_.clear();
  last_compute_ = id;
  computed_in_block_ = true;
  return id;
}

OpId ScheduleBuilder::launch(const std::string& stream_name, Op op) {
  op.stream = stream(stream_name, false);
  const OpId id = add(std::move(op));
  if (last_compute_)
    add_dependency(id, *last_compute_);
  else
    at_step_start_.push_back(id);
  for (const OpId wait : held_) add_dependency(id, wait);
  if (!computed_in_block_) at_block_start_.push_back(id);
  return id;
}

OpId ScheduleBuilder::launch_after(const std::string& stream_name, Op op, std::vector<OpId> after) {
  op.stream = stream(stream_name, false);
  const OpId id = add(std::move(op));
  for (const OpId wait : after) add_dependency(id, wait);
  return id;
}

}  // namespace amsp
