// SPDX-License-Identifier: Apache-2.0
#include "scenarios/lower_bound.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "calibrate/group_layout.hpp"

namespace amsp {
namespace {

constexpr double kBefore = -std::numeric_limits<double>::infinity();  // not reached from X

class LongestPath {
 public:
  LongestPath(const Schedule& schedule, const Network& network, const CollectiveModel& collectives,
              const ComputeModel& compute)
      : schedule_(schedule),
        stream_(schedule.streams.size(), kBefore),
        communicator_(schedule.communicators.size(), kBefore),
        end_(schedule.ops.size(), kBefore) {
    for (const Communicator& communicator : schedule.communicators)
      shapes_.push_back(shape_of(communicator, network));
    for (const Op& op : schedule.ops) {
      Seconds length(0), held(0);
      for (const Kernel& kernel : op.kernels) length += compute.estimate(kernel).time;
      if (op.collective) {
        const CollectiveEstimate estimate = alone(*op.collective, collectives);
        length += estimate.time;
        held = estimate.fluid * estimate.sm_share;
      }
      length_.push_back(length.value());
      held_.push_back(op.kernels.empty() ? held.value() : length.value());
      ours_.push_back(!op.role || is_ours(*op.role));
    }
  }

  // From the start of `first` over the rest of its step to its next start.
  double around(OpId first) {
    bool begun = false;
    for (int step = 0; step < 2; ++step)
      for (const Block& block : schedule_.blocks)
        for (std::int64_t i = 0; i < block.repeat; ++i)
          for (const OpId id : block.ops) {
            if (!ours_[id.position()]) continue;
            const bool is_first = id == first;
            if (begun && is_first) return std::max(0.0, start_of(id));
            if (!begun && !is_first) continue;
            advance(id, begun ? start_of(id) : 0.0);
            begun = true;
          }
    return 0;
  }

  // What a step asks of the GPU: computation, and the shares of it that collectives hold.
  [[nodiscard]] double demand() const {
    double sum = 0;
    for (const Block& block : schedule_.blocks)
      for (const OpId id : block.ops)
        if (ours_[id.position()]) sum += held_[id.position()] * static_cast<double>(block.repeat);
    return sum;
  }

  [[nodiscard]] OpId first_op() const {
    for (const Block& block : schedule_.blocks)
      for (const OpId id : block.ops)
        if (ours_[id.position()]) return id;
    return {};
  }

 private:
  // Of the first group; placement is rank i on GPU i.
  static GroupShape shape_of(const Communicator& communicator, const Network& network) {
    std::vector<GpuId> gpus;
    for (const Rank rank : communicator.members(0)) gpus.emplace_back(rank.index);
    return GroupLayout(gpus, network).shape();
  }
  [[nodiscard]] CollectiveEstimate alone(const CollectivePart& part,
                                         const CollectiveModel& collectives) const {
    return collectives.estimate(part.kind, part.bytes, part.dtype,
                                shapes_[part.communicator.position()]);
  }
  [[nodiscard]] bool is_ours(const Role& role) const {
    const auto member = schedule_.communicators[role.communicator.position()].membership(Rank(0));
    return member && member->index == role.index;
  }
  [[nodiscard]] double start_of(OpId id) const {
    const Op& op = schedule_.op(id);
    double start = stream_[op.stream.position()];
    for (const OpId before : op.after) start = std::max(start, end_[before.position()]);
    if (op.collective)
      start = std::max(start, communicator_[op.collective->communicator.position()]);
    return start;
  }
  void advance(OpId id, double start) {
    const Op& op = schedule_.op(id);
    const double end = start + length_[id.position()];
    stream_[op.stream.position()] = end;
    end_[id.position()] = end;
    if (op.collective) communicator_[op.collective->communicator.position()] = end;
  }

  const Schedule& schedule_;
  std::vector<GroupShape> shapes_;
  std::vector<double> length_, held_;
  std::vector<bool> ours_;
  std::vector<double> stream_, communicator_, end_;
};

}  // namespace

Seconds step_time_bound(const Schedule& schedule, const Network& network,
                        const CollectiveModel& collectives, const ComputeModel& compute) {
  LongestPath path(schedule, network, collectives, compute);
  const OpId first = path.first_op();
  return Seconds(first.valid() ? std::max(path.around(first), path.demand()) : 0.0);
}

}  // namespace amsp
