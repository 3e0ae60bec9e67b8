// SPDX-License-Identifier: Apache-2.0
#include "sim/replayer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "sim/jitter.hpp"

namespace amsp {

Replayer::Replayer(const Problem& problem, const Perturbations& perturbations, Engine& engine,
                   const ReplayOptions& options)
    : problem_(problem),
      perturbations_(perturbations),
      engine_(engine),
      options_(options),
      groups_(problem.groups.size()),
      queued_(problem.ranks.size()),
      other_jobs_(problem.jobs.size()) {
  for (std::size_t r = 0; r < problem.ranks.size(); ++r) {
    const FoldedRank& rank = problem.ranks[r];
    const ProblemJob& job = problem.jobs[static_cast<std::size_t>(rank.job)];
    first_lane_.push_back(lanes_.size());
    for (std::size_t s = 0; s < rank.lanes.size(); ++s) {
      LaneState state{static_cast<int>(r), static_cast<int>(s), {}, Wait::dependencies, {}, {}};
      const auto first = job.program.first_from(rank.lanes[s], Instance{});
      if (first) state.at = *first;
      if (!first || (rank.job == 0 && first->step >= options.steps)) state.wait = Wait::ended;
      if (state.wait != Wait::ended && rank.job != 0)
        ++other_jobs_[static_cast<std::size_t>(rank.job)].left;
      if (state.wait != Wait::ended && rank.job == 0) {
        ++main_lanes_left_;
        if (anchor_lane_ < 0 && job.schedule->streams[s].compute)
          anchor_lane_ = static_cast<int>(lanes_.size());
      }
      lanes_.push_back(state);
    }
  }
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const FoldedGroup& group = problem.groups[g];
    const auto first =
        problem.jobs[static_cast<std::size_t>(group.job)].program.first_from(group.lane, {});
    groups_[g].ended = !first;
    if (first) groups_[g].next = *first;
  }
}

Replayer::LaneState& Replayer::lane(int rank, int stream) {
  return lanes_[first_lane_[static_cast<std::size_t>(rank)] + static_cast<std::size_t>(stream)];
}

const ProblemJob& Replayer::job_of(const LaneState& lane) const {
  const FoldedRank& rank = problem_.ranks[static_cast<std::size_t>(lane.rank)];
  return problem_.jobs[static_cast<std::size_t>(rank.job)];
}

const Op& Replayer::op_of(const LaneState& lane) const {
  const ProblemJob& job = job_of(lane);
  return job.schedule->op(job.program.op_at(lane.at));
}

// A stream that stands at a later instance has done this one (or skips it).
bool Replayer::done(const LaneState& lane, const Instance& instance) const {
  return lane.wait == Wait::ended || instance < lane.at;
}

// The stream of the same rank that holds a dependency which is not done yet, if any.
const Replayer::LaneState* Replayer::blocker(const LaneState& waiting) const {
  const ProblemJob& job = job_of(waiting);
  const std::size_t first = first_lane_[static_cast<std::size_t>(waiting.rank)];
  for (const OpId dependency : op_of(waiting).after) {
    const LaneState& other = lanes_[first + job.schedule->op(dependency).stream.position()];
    if (&other == &waiting) continue;  // the stream keeps the order itself
    const auto instance = job.program.most_recent(dependency, waiting.at);
    if (instance && !done(other, *instance)) return &other;
  }
  return nullptr;
}

// Starts what can start on a rank, until nothing more can.
void Replayer::visit(int rank) {
  const std::size_t streams = problem_.ranks[static_cast<std::size_t>(rank)].lanes.size();
  for (bool again = true; again;) {
    again = false;
    for (std::size_t s = 0; s < streams; ++s) {
      LaneState& state = lane(rank, static_cast<int>(s));
      if (state.wait != Wait::dependencies || blocker(state)) continue;
      const Instance before = state.at;
      start(state);
      if (state.wait == Wait::ended || state.at != before) again = true;
    }
  }
}

void Replayer::start(LaneState& state) {
  const Op& op = op_of(state);
  state.ready = state.start = now();
  if (anchor_lane_ >= 0 && &state == &lanes_[static_cast<std::size_t>(anchor_lane_)]) {
    const FoldedRank& rank = problem_.ranks[static_cast<std::size_t>(state.rank)];
    const auto& list = rank.lanes[static_cast<std::size_t>(state.stream)]
                           .positions[static_cast<std::size_t>(state.at.block)];
    if (state.at.position == list.front()) anchor_started_ = true;
  }
  if (op.collective) {
    arrive(state, op);
    return;
  }
  const ProblemJob& job = job_of(state);
  const FoldedRank& rank = problem_.ranks[static_cast<std::size_t>(state.rank)];
  const OpId id = job.program.op_at(state.at);
  Seconds work = job.kernel_time[id.position()] / rank.speed;
  if (perturbations_.kernel_jitter > 0)
    work *= jitter_factor(perturbations_.kernel_jitter, perturbations_.seed,
                          {rank.gpu.index, id.index, state.at});
  if (work > Seconds{}) {
    state.wait = Wait::running;
    engine_.start_compute(TaskId(static_cast<std::size_t>(&state - lanes_.data())),
                          RankClassId(state.rank), work);
  } else {
    finish_lane(state);
  }
}

void Replayer::arrive(LaneState& state, const Op& op) {
  const FoldedRank& rank = problem_.ranks[static_cast<std::size_t>(state.rank)];
  const GroupClassId group = rank.group_of[op.collective->communicator.position()];
  if (!group.valid()) {  // ranks in no group skip the operation
    finish_lane(state);
    return;
  }
  state.wait = Wait::members;
  auto& arrivals = groups_[group.position()].arrivals;
  const auto found = std::find_if(arrivals.begin(), arrivals.end(), [&](const Arrival& arrival) {
    return arrival.instance == state.at;
  });
  if (found != arrivals.end())
    ++found->count;
  else
    arrivals.push_back({state.at, 1});
  try_group(group.index);
}

void Replayer::try_group(int id) {
  GroupState& state = groups_[static_cast<std::size_t>(id)];
  const FoldedGroup& group = problem_.groups[static_cast<std::size_t>(id)];
  if (state.running || state.ended) return;
  const auto found =
      std::find_if(state.arrivals.begin(), state.arrivals.end(),
                   [&](const Arrival& arrival) { return arrival.instance == state.next; });
  if (found == state.arrivals.end() || found->count < static_cast<int>(group.ranks.size())) return;
  state.arrivals.erase(found);
  const ProblemJob& job = problem_.jobs[static_cast<std::size_t>(group.job)];
  const OpId op = job.program.op_at(state.next);
  state.running = true;
  state.start = now();
  const int stream = job.schedule->op(op).stream.index;
  for (const RankClassId rank : group.ranks) {
    LaneState& member = lane(rank.index, stream);
    assert(member.wait == Wait::members && member.at == state.next);
    member.wait = Wait::running;
    member.start = state.start;
  }
  const CollectiveCost& cost =
      problem_.costs[static_cast<std::size_t>(group.cost_of[op.position()])];
  if (cost.instant) {
    finish_group(id);
    return;
  }
  double jitter = 1;
  if (perturbations_.link_jitter > 0)
    jitter = jitter_factor(perturbations_.link_jitter, ~perturbations_.seed,
                           {group.representative, op.index, state.next});
  engine_.start_collective(TaskId(lanes_.size() + static_cast<std::size_t>(id)), GroupClassId(id),
                           cost, jitter);
}

void Replayer::finish_lane(LaneState& state) {
  const ProblemJob& job = job_of(state);
  const FoldedRank& rank = problem_.ranks[static_cast<std::size_t>(state.rank)];
  if (rank.job == 0 && options_.fold_steps) note_end(state);
  if (rank.job == 0 && (!options_.fold_steps || state.rank == 0))
    records_.push_back({job.program.op_at(state.at), rank.representative, state.at.step,
                        state.at.block, state.at.repetition, state.ready, state.start, now()});
  state.wait = Wait::dependencies;
  const auto next = job.program.next(rank.lanes[static_cast<std::size_t>(state.stream)], state.at);
  if (rank.job == 0 && next->step >= options_.steps) {
    state.wait = Wait::ended;
    --main_lanes_left_;
  } else {
    const int before = state.at.step;
    state.at = *next;
    if (rank.job != 0 && state.at.step != before) next_step(state, rank.job, before);
  }
  queue(state.rank);
}

void Replayer::queue(int rank) {
  if (queued_[static_cast<std::size_t>(rank)]) return;
  queued_[static_cast<std::size_t>(rank)] = 1;
  to_visit_.push_back(rank);
}

void Replayer::finish_group(int id) {
  GroupState& state = groups_[static_cast<std::size_t>(id)];
  const FoldedGroup& group = problem_.groups[static_cast<std::size_t>(id)];
  const ProblemJob& job = problem_.jobs[static_cast<std::size_t>(group.job)];
  const int stream = job.schedule->op(job.program.op_at(state.next)).stream.index;
  note_other(id);
  for (const RankClassId rank : group.ranks) finish_lane(lane(rank.index, stream));
  state.running = false;
  state.next = *job.program.next(group.lane, state.next);
  try_group(id);
}

void Replayer::drain() {
  while (!to_visit_.empty() && main_lanes_left_ > 0) {
    const int rank = to_visit_.back();
    to_visit_.pop_back();
    queued_[static_cast<std::size_t>(rank)] = 0;
    visit(rank);
  }
}

void Replayer::on_finished(std::span<const TaskId> tasks) {
  if (main_lanes_left_ == 0) {  // what still runs belongs to other jobs
    for (const TaskId task : tasks)
      if (task.position() >= lanes_.size())
        note_other(static_cast<int>(task.position() - lanes_.size()));
    return;
  }
  for (const TaskId task : tasks) {
    if (task.position() < lanes_.size())
      finish_lane(lanes_[task.position()]);
    else
      finish_group(static_cast<int>(task.position() - lanes_.size()));
  }
  if (steady_step_ && lanes_[static_cast<std::size_t>(anchor_lane_)].wait != Wait::running) {
    main_lanes_left_ = 0;  // the first op behind the steady step is on record
    return;
  }
  drain();
  if (!anchor_started_) return;
  anchor_started_ = false;
  if (options_.fold_steps) note_step(lanes_[static_cast<std::size_t>(anchor_lane_)]);
  if (options_.fold_repeats) skip_repetitions(lanes_[static_cast<std::size_t>(anchor_lane_)]);
}

void Replayer::run() {
  for (std::size_t r = problem_.ranks.size(); r-- > 0;) to_visit_.push_back(static_cast<int>(r));
  std::fill(queued_.begin(), queued_.end(), 1);
  drain();
  anchor_started_ = false;
  engine_.run([this](std::span<const TaskId> tasks) { on_finished(tasks); });
  if (main_lanes_left_ > 0) throw InputError(deadlock());
  std::stable_sort(records_.begin(), records_.end(),
                   [](const OpRecord& a, const OpRecord& b) { return a.start < b.start; });
}

}  // namespace amsp
