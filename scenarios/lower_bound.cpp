// SPDX-License-Identifier: Apache-2.0
#include "scenarios/lower_bound.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

#include "calibrate/group_layout.hpp"
#include "sim/engine.hpp"

namespace amsp {
namespace {

// What an op is alone: its length, and the GPU time that it takes away (computation: all of it).
struct Weight {
  double length = 0;
  double held = 0;
};

class Weights {
 public:
  Weights(const Schedule& schedule, const Network& network, const CollectiveModel& collectives,
          const ComputeModel& compute)
      : schedule_(schedule), collectives_(&collectives), largest_(schedule.streams.size()) {
    for (const Communicator& communicator : schedule.communicators)
      shapes_.push_back(shape_of(communicator, network));
    for (const Op& op : schedule.ops) {
      Weight weight;
      for (const Kernel& kernel : op.kernels)
        weight.length += compute.estimate(kernel).time.value();
      weight.held = weight.length;
      if (op.collective) add_collective(op, weight);
      of_op_.push_back(weight);
    }
    scale_shares();
  }

  Weights(const Schedule& schedule, const Problem& problem)
      : schedule_(schedule),
        groups_(schedule.communicators.size()),
        largest_(schedule.streams.size()) {
    for (const FoldedGroup& group : problem.groups)
      groups_[group.communicator.position()].push_back(&group);
    for (std::size_t o = 0; o < schedule.ops.size(); ++o) {
      const double computing = problem.jobs.front().kernel_time[o].value();
      Weight weight{computing, computing};
      if (schedule.ops[o].collective) add_collective(OpId(o), problem, weight);
      of_op_.push_back(weight);
    }
    scale_shares();
  }

  [[nodiscard]] const Weight& of(OpId op) const { return of_op_[op.position()]; }

 private:
  // Of the first group; placement is rank i on GPU i.
  static GroupShape shape_of(const Communicator& communicator, const Network& network) {
    std::vector<GpuId> gpus;
    for (const Rank rank : communicator.members(0)) gpus.emplace_back(rank.index);
    return GroupLayout(gpus, network).shape();
  }

  void add_collective(const Op& op, Weight& weight) {
    const CollectivePart& part = *op.collective;
    const auto [known, is_new] = known_.try_emplace(
        {part.kind, part.communicator, part.bytes.value(), part.dtype}, CollectiveEstimate{});
    CollectiveEstimate& alone = known->second;
    if (is_new)
      alone = collectives_->estimate(part.kind, part.bytes, part.dtype,
                                     shapes_[part.communicator.position()]);
    add(op, {alone.time.value(), (alone.fluid * alone.sm_share).value()}, alone.sm_share, weight);
  }

  void add_collective(OpId id, const Problem& problem, Weight& weight) {
    const Op& op = schedule_.op(id);
    Weight least;
    double share = 0;
    bool any = false;
    for (const FoldedGroup* group : groups_[op.collective->communicator.position()]) {
      const CollectiveCost& cost =
          problem.costs[static_cast<std::size_t>(group->cost_of[id.position()])];
      const double fluid = cost.loads < 0 ? 0 : fluid_time(problem, cost);
      const double length = cost.instant ? 0 : cost.latency.value() + fluid;
      const Weight one{length, fluid * cost.sm_share};
      least =
          any ? Weight{std::min(least.length, one.length), std::min(least.held, one.held)} : one;
      share = std::max(share, cost.sm_share);
      any = true;
    }
    add(op, least, share, weight);
  }

  // Of all groups of a class at once, with nothing else on their links.
  static double fluid_time(const Problem& problem, const CollectiveCost& cost) {
    double slowest = 0;
    for (const ClassLoad& load : problem.loads[static_cast<std::size_t>(cost.loads)])
      slowest = std::max(slowest, load.load / problem.links[load.link.position()].capacity.value());
    return cost.flow.value() * cost.stretch * slowest;
  }

  void add(const Op& op, const Weight& collective, double share, Weight& weight) {
    weight.length += collective.length;
    weight.held += collective.held;
    double& largest = largest_[op.stream.position()];
    largest = std::max(largest, share);
  }

  // Computation keeps `slowest_compute` of its rate whatever runs beside it. A stream runs one
  // collective at a time, so the shares held at once are at most the sum over the streams.
  void scale_shares() {
    double most = 0;
    for (const double share : largest_) most += share;
    if (most <= 1 - slowest_compute) return;
    for (std::size_t o = 0; o < of_op_.size(); ++o)
      if (schedule_.ops[o].collective) of_op_[o].held *= (1 - slowest_compute) / most;
  }

  const Schedule& schedule_;
  const CollectiveModel* collectives_ = nullptr;
  std::vector<GroupShape> shapes_;
  std::vector<std::vector<const FoldedGroup*>> groups_;  // by communicator
  std::map<std::tuple<CollectiveKind, CommId, double, Dtype>, CollectiveEstimate> known_;
  std::vector<double> largest_;  // share of a collective, by stream
  std::vector<Weight> of_op_;
};

constexpr std::size_t kOrigins = 6;
constexpr double kNone = std::numeric_limits<double>::infinity();

// Walks the instances of the program from Z to Z.
class Period {
 public:
  Period(const Schedule& schedule, const Weights& weights)
      : schedule_(schedule),
        weights_(weights),
        streams_(schedule.streams.size()),
        at_stream_(streams_),
        at_communicator_(schedule.communicators.size()),
        at_op_(schedule.ops.size()),
        held_(streams_ * (streams_ + schedule.communicators.size() + schedule.ops.size())),
        sum_(streams_) {
    for (const Op& op : schedule.ops) ours_.push_back(!op.role || is_ours(*op.role));
  }

  double from(OpId last) {
    pass(last, false);
    pass(last, true);
    return at_op_[last.position()].end;
  }

  [[nodiscard]] OpId last_computation() const {
    OpId last;
    for (const Block& block : schedule_.blocks)
      for (const OpId id : block.ops)
        if (block.repeat > 0 && ours_[id.position()] &&
            schedule_.streams[schedule_.op(id).stream.position()].compute)
          last = id;
    return last;
  }

 private:
  struct Reached {
    unsigned after = 0;  // the origins that it starts after, by bit
    double end = 0;
  };
  // Demand is counted from here: Z, and later ops that waited for something but computation.
  struct Origin {
    double time = 0;
    std::vector<double> before;  // by stream: sum up to its first op after the origin, or none
  };
  enum class Site { stream, communicator, op };

  [[nodiscard]] bool is_ours(const Role& role) const {
    const auto member = schedule_.communicators[role.communicator.position()].membership(Rank(0));
    return member && member->index == role.index;
  }

  // The rest of the step that Z ends, then the step up to its end.
  void pass(OpId last, bool second) {
    bool begun = second;
    for (const Block& block : schedule_.blocks) {
      const bool holds_last =
          std::find(block.ops.begin(), block.ops.end(), last) != block.ops.end();
      if (!begun && !holds_last) continue;
      for (std::int64_t i = begun ? 0 : block.repeat - 1; i < block.repeat; ++i)
        for (const OpId id : block.ops) {
          if (!ours_[id.position()]) continue;
          const bool is_last = id == last && i + 1 == block.repeat;
          if (!begun && is_last)
            begin(id);
          else if (begun)
            advance(id);
          begun = begun || is_last;
          if (second && is_last) return;
        }
    }
  }

  double* held(Site site, std::size_t place) {
    std::size_t row = place;
    if (site != Site::stream) row += streams_;
    if (site == Site::op) row += at_communicator_.size();
    return held_.data() + row * streams_;
  }

  void begin(OpId id) {
    at_op_[id.position()] = at_stream_[schedule_.op(id).stream.position()] = {1, 0};
    origins_[0].before.assign(streams_, kNone);
  }

  void join(const Reached& from, const double* from_held, Reached& start) {
    if (from.after == 0) return;
    start.after |= from.after;
    start.end = std::max(start.end, from.end);
    for (std::size_t s = 0; s < streams_; ++s) now_[s] = std::max(now_[s], from_held[s]);
  }

  void advance(OpId id) {
    const Op& op = schedule_.op(id);
    const std::size_t stream = op.stream.position();
    Reached at;
    now_.assign(streams_, 0);
    join(at_stream_[stream], held(Site::stream, stream), at);
    for (const OpId before : op.after)
      join(at_op_[before.position()], held(Site::op, before.position()), at);
    const std::size_t c = op.collective ? op.collective->communicator.position() : 0;
    if (op.collective) join(at_communicator_[c], held(Site::communicator, c), at);
    if (at.after == 0) return;
    for (std::size_t o = 0; o < kOrigins; ++o)
      if ((at.after >> o & 1U) != 0 && origins_[o].before[stream] == kNone)
        origins_[o].before[stream] = sum_[stream];
    const double demand = demand_at(at);
    if (schedule_.streams[stream].compute && at.end > demand) add_origin(at, stream);
    const Weight& weight = weights_.of(id);
    at.end = std::max(at.end, demand) + weight.length;
    sum_[stream] += weight.held;
    now_[stream] = sum_[stream];
    note(at, at_stream_[stream], held(Site::stream, stream));
    note(at, at_op_[id.position()], held(Site::op, id.position()));
    if (op.collective) note(at, at_communicator_[c], held(Site::communicator, c));
  }

  // What lies between an origin and now takes at least this long.
  [[nodiscard]] double demand_at(const Reached& at) const {
    double most = 0;
    for (std::size_t o = 0; o < kOrigins; ++o) {
      if ((at.after >> o & 1U) == 0) continue;
      double demand = origins_[o].time;
      for (std::size_t s = 0; s < streams_; ++s)
        if (now_[s] > origins_[o].before[s]) demand += now_[s] - origins_[o].before[s];
      most = std::max(most, demand);
    }
    return most;
  }

  // The oldest origin but Z gives way.
  void add_origin(Reached& at, std::size_t stream) {
    const std::size_t place = next_origin_;
    next_origin_ = next_origin_ + 1 < kOrigins ? next_origin_ + 1 : 1;
    const unsigned others = ~(1U << place);
    for (auto* list : {&at_stream_, &at_communicator_, &at_op_})
      for (Reached& reached : *list) reached.after &= others;
    at.after |= 1U << place;
    origins_[place].time = at.end;
    origins_[place].before.assign(streams_, kNone);
    origins_[place].before[stream] = sum_[stream];
  }

  void note(const Reached& at, Reached& to, double* to_held) const {
    to = at;
    std::copy(now_.begin(), now_.end(), to_held);
  }

  const Schedule& schedule_;
  const Weights& weights_;
  std::size_t streams_;
  std::vector<Reached> at_stream_, at_communicator_, at_op_;
  // Rows of one number a stream: GPU time taken by the ops of that stream that lie between the end
  // of Z and the end of the last op at a place. Ops of a stream end in order, so the ancestors of
  // an op on a stream are all up to some op, and the sum up to it says which.
  std::vector<double> held_;
  std::vector<double> sum_;  // by stream, so far
  std::array<Origin, kOrigins> origins_;
  std::size_t next_origin_ = 1;
  std::vector<double> now_;
  std::vector<char> ours_;
};

Seconds bound_with(const Schedule& schedule, const Weights& weights) {
  Period period(schedule, weights);
  const OpId last = period.last_computation();
  return Seconds(last.valid() ? period.from(last) : 0.0);
}

}  // namespace

Seconds step_time_bound(const Schedule& schedule, const Network& network,
                        const CollectiveModel& collectives, const ComputeModel& compute) {
  return bound_with(schedule, Weights(schedule, network, collectives, compute));
}

Seconds step_time_bound(const Schedule& schedule, const Problem& problem) {
  return bound_with(schedule, Weights(schedule, problem));
}

}  // namespace amsp
