// SPDX-License-Identifier: Apache-2.0
// Which instances an op waits for, against a walk through the program.
#include "exec/program.hpp"

#include <rapidcheck.h>
#include <rapidcheck/catch.h>

#include <catch2/catch.hpp>
#include <map>

#include "exec/launch.hpp"
#include "schedules.hpp"

using namespace amsp;

namespace {

Schedule random_schedule(int world) {
  ScheduleBuilder builder(world, {"compute", "a", "b"});
  builder.whole_world();
  builder.schedule.blocks.clear();
  const int blocks = *rc::gen::inRange(1, 4);
  for (int b = 0; b < blocks; ++b) {
    builder.schedule.blocks.push_back({"block" + std::to_string(b), *rc::gen::inRange(1, 4), {}});
    const int ops = *rc::gen::inRange(1, 5);
    for (int i = 0; i < ops; ++i) {
      const std::string name = "op" + std::to_string(builder.schedule.ops.size());
      if (*rc::gen::arbitrary<bool>())
        builder.compute(name, microseconds(100));
      else
        builder.collective(name, {CollectiveKind::all_reduce, CommId(0), Bytes(64), Dtype::fp32, 0},
                           {}, *rc::gen::inRange(1, 3));
    }
  }
  return builder.schedule;
}

// All instances in program order.
struct Site {
  OpId op;
  ExecInstance instance;
};
std::vector<Site> walk(const Schedule& schedule, int steps) {
  std::vector<Site> places;
  for (int step = 0; step < steps; ++step)
    for (const Block& block : schedule.blocks)
      for (std::int64_t r = 0; r < block.repeat; ++r)
        for (OpId op : block.ops) places.push_back({op, {step, r}});
  return places;
}

}  // namespace

TEST_CASE("waits are for the most recent earlier instance") {
  rc::prop("counts agree with a walk through the program", [] {
    Schedule schedule = random_schedule(1);
    const int ops = static_cast<int>(schedule.ops.size());
    for (Op& op : schedule.ops)
      for (int i = *rc::gen::inRange(0, 3); i > 0; --i)
        op.after.emplace_back(*rc::gen::inRange(0, ops));
    const RankProgram program = plan_rank(schedule, Rank(0));
    std::map<OpId, std::vector<Wait>> waits;
    for (const PlannedBlock& block : program.blocks)
      for (const PlannedOp& op : block.ops) waits[op.op] = op.waits;
    std::map<OpId, std::int64_t> done;
    std::map<CommId, Site> last_on;  // communicator
    for (const Site& here : walk(schedule, 3)) {
      const Op& op = schedule.op(here.op);
      std::map<OpId, std::int64_t> wanted;
      for (OpId dependency : op.after)
        if (done[dependency] > 0) wanted[dependency] = done[dependency];
      if (op.collective && last_on.count(op.collective->communicator)) {
        const OpId before = last_on[op.collective->communicator].op;
        wanted[before] = std::max(wanted[before], done[before]);
      }
      std::map<OpId, std::int64_t> planned;
      for (const Wait& wait : waits[here.op])
        if (wait.count(here.instance) > 0)
          planned[wait.op] = std::max(planned[wait.op], wait.count(here.instance));
      for (const auto& [dependency, count] : wanted) RC_ASSERT(planned[dependency] == count);
      // Nothing that has not yet happened is waited for.
      for (const auto& [dependency, count] : planned) RC_ASSERT(count <= done[dependency]);
      ++done[here.op];
      if (op.collective) last_on[op.collective->communicator] = here;
    }
  });
}

TEST_CASE("records of an execution keep the schedule's order") {
  rc::prop("streams, dependencies and communicators", [] {
    const int world = *rc::gen::inRange(1, 4);
    ScheduleBuilder builder(world);
    builder.schedule = random_schedule(world);
    for (std::size_t i = 1; i < builder.schedule.ops.size(); ++i)
      builder.schedule.ops[i].after.emplace_back(*rc::gen::inRange<std::size_t>(0, i));
    const Schedule& schedule = builder.schedule;
    const ExecTrace trace = run_local(builder.job());
    std::map<std::tuple<int, OpId, int, std::int64_t>, const ExecRecord*> records;
    for (const ExecRecord& record : trace.records)
      records[{record.rank.index, record.op, record.step, record.repetition}] = &record;
    for (int rank = 0; rank < world; ++rank) {
      std::map<StreamId, Seconds> stream_end;
      std::map<CommId, Seconds> comm_end;
      std::map<OpId, Seconds> op_end;
      for (const Site& here : walk(schedule, 2)) {
        const Op& op = schedule.op(here.op);
        const ExecRecord* record =
            records.at({rank, here.op, here.instance.step, here.instance.repetition});
        RC_ASSERT(record->ready >= stream_end[op.stream]);
        for (OpId dependency : op.after) RC_ASSERT(record->ready >= op_end[dependency]);
        if (op.collective) {
          RC_ASSERT(record->ready >= comm_end[op.collective->communicator]);
          comm_end[op.collective->communicator] = record->end;
        }
        RC_ASSERT(record->end >= record->start);
        RC_ASSERT(record->start >= record->ready);
        stream_end[op.stream] = op_end[here.op] = record->end;
      }
    }
  });
}

TEST_CASE("different communicators run at the same time") {
  // Two chains of ops that sleep and communicate: one after another they would need twice as long.
  ScheduleBuilder builder(2, {"compute", "network", "other compute", "other network"});
  const CommId first = builder.whole_world();
  const CommId second = builder.communicator("again", {{2, true}});
  for (int i = 0; i < 5; ++i)
    for (int chain = 0; chain < 2; ++chain) {
      const std::string name = std::to_string(chain) + "/" + std::to_string(i);
      const OpId work = builder.compute("work" + name, milliseconds(20), {}, 2 * chain);
      builder.collective(
          "sum" + name,
          {CollectiveKind::all_reduce, chain == 0 ? first : second, Bytes(4096), Dtype::fp32, 0},
          {work}, 2 * chain + 1);
    }
  const ExecTrace trace = run_local(builder.job());
  CHECK(trace.step_time > milliseconds(95));
  CHECK(trace.step_time < milliseconds(170));
}
