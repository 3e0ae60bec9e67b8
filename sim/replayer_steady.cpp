// SPDX-License-Identifier: Apache-2.0
// Repetitions that need not be replayed, and what a deadlocked replay says.
#include <fmt/format.h>

#include <algorithm>

#include "sim/replayer.hpp"

namespace amsp {
namespace {

bool in_block(const Instance& place, const Instance& anchor) {
  return place.step == anchor.step && place.block == anchor.block;
}

void append(std::vector<std::int64_t>& places, const Instance& at, const Instance& anchor,
            std::int64_t state) {
  const std::int64_t repetition =
      in_block(at, anchor) ? at.repetition - anchor.repetition : at.repetition;
  // Places outside the block are absolute; the step is relative to tell them from those inside.
  places.insert(places.end(), {at.step - anchor.step, at.block, repetition, at.position, state});
}

}  // namespace

ReplayMoment Replayer::moment(const Instance& anchor) const {
  ReplayMoment moment;
  moment.anchor = anchor;
  moment.time = now();
  moment.earliest = moment.latest = anchor.repetition;
  for (const LaneState& lane : lanes_) {
    append(moment.places, lane.at, anchor, static_cast<std::int64_t>(lane.wait));
    if (!in_block(lane.at, anchor) || lane.wait == Wait::ended) continue;
    moment.earliest = std::min(moment.earliest, lane.at.repetition);
    moment.latest = std::max(moment.latest, lane.at.repetition);
  }
  for (const GroupState& group : groups_) {
    append(moment.places, group.next, anchor, group.running ? 1 : 0);
    for (const Arrival& arrival : group.arrivals)
      append(moment.places, arrival.instance, anchor, arrival.count);
  }
  if (auto running = engine_.progress()) moment.running = std::move(*running);
  return moment;
}

void Replayer::skip_repetitions(const LaneState& anchor_lane) {
  const Instance anchor = anchor_lane.at;
  const std::int64_t repeat = problem_.jobs.front().program.repeat(anchor.block);
  if (repeat < 5 || !engine_.progress()) return;
  const std::optional<Seconds> period = periodicity_.note(moment(anchor));
  if (!period) return;
  const std::int64_t ahead = moment(anchor).latest - anchor.repetition;
  const std::int64_t count = repeat - 2 - ahead - anchor.repetition;
  if (count < 1) return;
  skipped_.push_back(
      {anchor.step, anchor.block, anchor.repetition, count, now() - *period, *period});
  shift(anchor, count, *period);
  periodicity_.forget();
}

void Replayer::note_end(const LaneState& lane) {
  if (!job_of(lane).schedule->streams[static_cast<std::size_t>(lane.stream)].compute) return;
  const auto step = static_cast<std::size_t>(lane.at.step);
  if (last_ends_.size() <= step) {
    first_ends_.resize(step + 1);
    last_ends_.resize(step + 1);
  }
  last_ends_[step] = now();
  if (lane.rank == 0) first_ends_[step] = now();
}

std::optional<std::vector<Seconds>> Replayer::common_ends() const {
  constexpr double kRounding = 1e-12;
  const std::size_t whole = steady_step_ ? last_ends_.size() - 1 : last_ends_.size();
  for (std::size_t step = 0; step < whole; ++step)
    if (first_ends_[step] < last_ends_[step] * (1 - kRounding)) return std::nullopt;
  return last_ends_;
}

void Replayer::note_step(const LaneState& anchor_lane) {
  const FoldedRank& rank = problem_.ranks[static_cast<std::size_t>(anchor_lane.rank)];
  const auto first =
      job_of(anchor_lane)
          .program.first_from(rank.lanes[static_cast<std::size_t>(anchor_lane.stream)],
                              {anchor_lane.at.step, 0, 0, 0});
  if (!first || *first != anchor_lane.at || !engine_.progress()) return;
  const ReplayMoment here = moment(anchor_lane.at);
  if (const std::optional<Seconds> period = periodicity_.note_step(here))
    steady_step_ = SteadyStep{here.time - *period, *period};
}

void Replayer::shift(const Instance& anchor, std::int64_t repetitions, Seconds period) {
  const Seconds by = period * static_cast<double>(repetitions);
  const auto move = [&](Instance& at) {
    if (in_block(at, anchor)) at.repetition += repetitions;
  };
  const Instance from = anchor;  // `anchor` may lie in a lane that moves
  for (LaneState& lane : lanes_) {
    if (in_block(lane.at, from) && lane.wait != Wait::ended) lane.at.repetition += repetitions;
    lane.ready += by;
    lane.start += by;
  }
  for (GroupState& group : groups_) {
    move(group.next);
    for (Arrival& arrival : group.arrivals) move(arrival.instance);
    group.start += by;
  }
  shift_ += by;
}

std::string Replayer::deadlock() const {
  std::string text = "the schedule deadlocks:";
  int shown = 0;
  for (const LaneState& state : lanes_) {
    if (state.wait == Wait::ended || state.wait == Wait::running) continue;
    const FoldedRank& rank = problem_.ranks[static_cast<std::size_t>(state.rank)];
    if (rank.job != 0) continue;
    if (++shown > 6) {
      text += " …";
      break;
    }
    text += fmt::format("{} rank {}: \"{}\" ", shown > 1 ? ";" : "", rank.representative.index,
                        op_of(state).name);
    if (state.wait == Wait::dependencies) {
      const LaneState* other = blocker(state);
      text += fmt::format("waits for \"{}\"", other ? op_of(*other).name : "its stream");
      continue;
    }
    const GroupClassId id = rank.group_of[op_of(state).collective->communicator.position()];
    const GroupState& group = groups_[id.position()];
    const ProblemJob& job = job_of(state);
    if (group.next != state.at)
      text += fmt::format("waits on its communicator for \"{}\"",
                          job.schedule->op(job.program.op_at(group.next)).name);
    else
      text += "waits for the other members of its group";
  }
  return text;
}

}  // namespace amsp
