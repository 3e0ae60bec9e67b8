// SPDX-License-Identifier: Apache-2.0
// Jobs beside the main one: kept together step by step, and what their links carried.
#include <fmt/format.h>

#include <algorithm>

#include "base/units_text.hpp"
#include "sim/replayer.hpp"

namespace amsp {

// A stream that enters a step waits there until no stream of its job is more than one step behind.
void Replayer::next_step(LaneState& state, int number, int before) {
  constexpr int kMostSteps = 1000000;
  OtherJob& job = other_jobs_[static_cast<std::size_t>(number)];
  if (state.at.step > kMostSteps)
    throw InputError(fmt::format(
        "the job beside \"{}\" has run {} steps in {} and the first is not done: its steps are too "
        "short to be replayed so often; put several into one schedule",
        problem_.jobs.front().schedule->name, kMostSteps, human(now())));
  if (state.at.step > job.step + 1) state.wait = Wait::job;
  if (before != job.step || --job.left > 0) return;
  job.step = state.at.step;
  const auto each = [&](const auto& visit) {
    for (LaneState& lane : lanes_)
      if (lane.wait != Wait::ended &&
          problem_.ranks[static_cast<std::size_t>(lane.rank)].job == number)
        visit(lane);
  };
  each([&](const LaneState& lane) { job.step = std::min(job.step, lane.at.step); });
  each([&](LaneState& lane) {
    if (lane.at.step == job.step) ++job.left;
    if (lane.wait != Wait::job || lane.at.step > job.step + 1) return;
    lane.wait = Wait::dependencies;
    queue(lane.rank);
  });
}

void Replayer::note_other(int id) {
  const GroupState& state = groups_[static_cast<std::size_t>(id)];
  const FoldedGroup& group = problem_.groups[static_cast<std::size_t>(id)];
  if (group.job == 0) return;
  const ProblemJob& job = problem_.jobs[static_cast<std::size_t>(group.job)];
  const int cost = group.cost_of[job.program.op_at(state.next).position()];
  if (problem_.costs[static_cast<std::size_t>(cost)].loads >= 0)
    others_.push_back({id, cost, state.start, now()});
}

}  // namespace amsp
