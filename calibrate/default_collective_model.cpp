// SPDX-License-Identifier: Apache-2.0
#include "calibrate/default_collective_model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/counted.hpp"
#include "base/units_text.hpp"
#include "calibrate/measured_latencies.hpp"
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
    const bool pairs = kind == CollectiveKind::send_recv && shape.nodes > 1;
    const Bandwidth most = rate_of_pair(shape, hardware_);
    const PhysicsTime time =
        fastest(kind, bytes, shape, pairs ? at_most(parameters_, most) : parameters_);
    estimate.time = time.total();
    estimate.latency = time.latency;
    estimate.fluid = time.transfer;
    estimate.low = estimate.time * lowest;
    const Bandwidth least = std::min(most / slower_transfer, slowest_channel);
    estimate.high = fastest(kind, bytes, shape, pairs ? at_most(slow_, least) : slow_).total();
    estimate.algorithm = name_of(time.candidate.algorithm);
    estimate.protocol = name_of(time.candidate.protocol);
    estimate.range_note = "no calibration: data-sheet rates and latencies of public logs";
    if (pairs && most < Bandwidth(parameters_[Parameter::rate_nic]))
      estimate.range_note +=
          fmt::format("; NCCL gives a pair {} in this group, {} in all",
                      counted(channels_of_pair(shape, hardware_), "channel"), human(most));
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
                                    const PhysicsParameters& parameters) const {
    PhysicsTime best;
    bool first = true;
    for (const Candidate& candidate : candidates(kind, shape, hardware_)) {
      const PhysicsTime time = candidate_time(candidate, kind, bytes, shape, hardware_, parameters);
      if (first || time.total() < best.total()) best = time;
      first = false;
    }
    return best;
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
