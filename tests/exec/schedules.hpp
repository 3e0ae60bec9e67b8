// SPDX-License-Identifier: Apache-2.0
// Small schedules for the tests of execution.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "exec/job.hpp"

namespace amsp {

struct ScheduleBuilder {
  Schedule schedule;

  explicit ScheduleBuilder(int world, std::vector<std::string> streams = {"compute", "network"}) {
    schedule.name = "test";
    schedule.world = world;
    for (std::string& name : streams) {
      const bool compute = name == "compute";
      schedule.streams.push_back({std::move(name), compute});
    }
    schedule.blocks.push_back({"step", 1, {}});
  }
  CommId communicator(std::string name, std::vector<Communicator::Axis> axes) {
    schedule.communicators.push_back({std::move(name), std::move(axes), {}});
    return CommId(schedule.communicators.size() - 1);
  }
  CommId groups(std::string name, std::vector<std::vector<Rank>> groups) {
    schedule.communicators.push_back({std::move(name), {}, std::move(groups)});
    return CommId(schedule.communicators.size() - 1);
  }
  CommId whole_world() { return communicator("world", {{schedule.world, true}}); }
  OpId add(Op op) {
    schedule.ops.push_back(std::move(op));
    schedule.blocks.back().ops.emplace_back(schedule.ops.size() - 1);
    return schedule.blocks.back().ops.back();
  }
  OpId compute(std::string name, Seconds duration, std::vector<OpId> after = {}, int stream = 0) {
    Op op;
    op.name = std::move(name);
    op.stream = StreamId(stream);
    op.after = std::move(after);
    Kernel kernel;
    kernel.duration = duration;
    op.kernels.push_back(kernel);
    return add(std::move(op));
  }
  OpId collective(std::string name, CollectivePart part, std::vector<OpId> after = {},
                  int stream = 1) {
    Op op;
    op.name = std::move(name);
    op.stream = StreamId(stream);
    op.after = std::move(after);
    op.collective = part;
    return add(std::move(op));
  }
  ExecJob job(bool check = true) const {
    ExecJob job;
    job.schedule = schedule;
    job.options.check = check;
    job.options.warmup = 0;
    job.options.steps = 2;
    job.options.timeout = Seconds(20);
    return job;
  }
};

}  // namespace amsp
