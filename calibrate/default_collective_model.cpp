// SPDX-License-Identifier: Apache-2.0
#include "calibrate/default_collective_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/counted.hpp"
#include "base/units_text.hpp"
#include "calibrate/measured_latencies.hpp"
#include "calibrate/nccl_algorithm.hpp"
#include "calibrate/pair_channels.hpp"
#include "calibrate/physics.hpp"
#include "calibrate/sm_share.hpp"

namespace amsp {
namespace {

// The 90 % interval: coverage on those logs and on others in the same place.
constexpr double lowest = 0.5;
constexpr double slower_latency = 3.5;
constexpr double slower_transfer = 1.6;

// The machine of the interval's upper end. Since it is a machine, its times never fall with the
// bytes, which a sum of weighted parts of the expected one's times does wherever an algorithm with
// more latency gives way, and in rings, whose streaming hides more of the way the longer it is.
PhysicsParameters of_slow_machine(PhysicsParameters p) {
  using enum Parameter;
  for (const Parameter latency :
       {base_ll, base_ll128, base_simple, inside_ll, inside_ll128, inside_simple, across_ll,
        across_ll128, across_simple, latency_nvls, latency_collnet})
    p[latency] *= slower_latency;
  for (const Parameter rate :
       {rate_inside, rate_nic, ceiling_ll, ceiling_ll128, rate_nvls, rate_collnet})
    p[rate] /= slower_transfer;
  p[gap_simple] *= slower_transfer;
  return p;
}

PhysicsParameters at_most(PhysicsParameters p, Bandwidth nic) {
  p[Parameter::rate_nic] = std::min(p[Parameter::rate_nic], nic.value());
  return p;
}

class DefaultCollectiveModel : public CollectiveModel {
 public:
  explicit DefaultCollectiveModel(const ClusterSpec& cluster)
      : hardware_(hardware_of(cluster)),
        parameters_(as_measured_elsewhere(default_parameters(cluster), true, true)),
        slow_(of_slow_machine(parameters_)),
        note_(fmt::format(
            "no collective was measured on {}: data-sheet rates and the latencies of public logs "
            "of "
            "InfiniBand and RoCE are taken; other networks were up to five times as slow with "
            "small "
            "messages (amsp calibrate with logs of your cluster, or of one like it, says more)",
            cluster.name)) {}

  std::string note() const override { return note_; }

  CollectiveEstimate estimate(CollectiveKind kind, Bytes bytes, Dtype,
                              const GroupShape& shape) const override {
    CollectiveEstimate estimate;
    if (shape.ranks < 2) {
      estimate.algorithm = "ring";
      estimate.protocol = "Simple";
      return estimate;
    }
    const PhysicsTime time = fastest(kind, bytes, shape, hardware_, parameters_);
    estimate.time = time.total();
    estimate.latency = time.latency;
    estimate.fluid = time.transfer;
    estimate.low =
        std::min(estimate.time, std::max(estimate.time * lowest, at_line_rate(kind, bytes, shape)));
    estimate.high = slowest(kind, bytes, shape);
    estimate.algorithm = name_of(time.candidate.algorithm);
    estimate.protocol = name_of(time.candidate.protocol);
    estimate.range_note = "no calibration: data-sheet rates and latencies of public logs";
    const double share = pair_share(kind, shape);
    if (share < 1) {
      const Bandwidth carried(parameters_[Parameter::rate_nic] * share);
      estimate.range_note +=
          fmt::format("; NCCL gives a pair {} in this group, {} in all",
                      counted(channels_of_pair(shape, hardware_), "channel"), human(carried));
    }
    estimate.sm_share = sm_share(time.candidate, bytes, shape, hardware_);
    return estimate;
  }

  AchievableRates achievable() const override {
    const double port = std::max(parameters_[Parameter::rate_inside] / hardware_.ring_share,
                                 hardware_.nvls ? parameters_[Parameter::rate_nvls] : 0.0);
    return {Bandwidth(port), Bandwidth(parameters_[Parameter::rate_nic])};
  }

 private:
  // NCCL chooses by its own model of a graph that nobody measured here, so the fastest is as good a
  // guess; and the least of times that each fall with the links' rates and rise with the bytes does
  // so too, which a choice by another model does not.
  [[nodiscard]] PhysicsTime fastest(CollectiveKind kind, Bytes bytes, const GroupShape& shape,
                                    const Hardware& hardware,
                                    const PhysicsParameters& parameters) const {
    PhysicsTime best;
    bool first = true;
    for (const Candidate& candidate : candidates(kind, shape, hardware)) {
      const PhysicsTime time = candidate_time(candidate, kind, bytes, shape, hardware, parameters);
      if (first || time.total() < best.total()) best = time;
      first = false;
    }
    return best;
  }

  // Of a pair between nodes the share of a NIC that NCCL's channels fill.
  [[nodiscard]] double pair_share(CollectiveKind kind, const GroupShape& shape) const {
    const bool pair = kind == CollectiveKind::send_recv && shape.nodes > 1;
    return pair ? share_of_pair(shape, hardware_) : 1;
  }

  // On the slow machine; a pair between nodes has no more than the slowest channel seen there.
  [[nodiscard]] Seconds slowest(CollectiveKind kind, Bytes bytes, const GroupShape& shape) const {
    if (kind != CollectiveKind::send_recv || shape.nodes == 1) {
      return fastest(kind, bytes, shape, hardware_, slow_).total();
    }
    const Bandwidth slow(slow_[Parameter::rate_nic] * share_of_pair(shape, hardware_));
    Hardware without_rule = hardware_;
    without_rule.nccl = assumed_nccl;
    const PhysicsParameters p = at_most(slow_, std::min(slow, slowest_channel));
    return fastest(kind, bytes, shape, without_rule, p).total();
  }

  // No link carries its bytes faster than its data sheet says.
  [[nodiscard]] Seconds at_line_rate(CollectiveKind kind, Bytes bytes,
                                     const GroupShape& shape) const {
    Seconds least(HUGE_VAL);
    for (const Candidate& candidate : candidates(kind, shape, hardware_)) {
      const WireBytes wire =
          candidate.algorithm->wire_bytes(kind, bytes, shape, nics_used(shape, hardware_));
      least =
          std::min(least, std::max(wire.port / hardware_.gpu_rate, wire.nic / hardware_.nic_rate));
    }
    return least;
  }

  Hardware hardware_;
  PhysicsParameters parameters_, slow_;
  std::string note_;
};

}  // namespace

std::unique_ptr<CollectiveModel> default_collective_model(const ClusterSpec& cluster) {
  return std::make_unique<DefaultCollectiveModel>(cluster);
}

}  // namespace amsp
