// SPDX-License-Identifier: Apache-2.0
#include "calibrate/nic_line_rate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/units_text.hpp"
#include "calibrate/nccl_algorithm.hpp"
#include "calibrate/observations.hpp"
#include "topologies/gpu_architecture.hpp"

namespace amsp {
namespace {

constexpr std::string_view guessed = "the logs stop before the NICs are full: ";

// What a NIC carries at least, by whichever algorithm NCCL took.
Bytes least_on_nic(const Observation& row, int nics, const Hardware& hardware) {
  const auto on_nic = [&](Algorithm algorithm) {
    return algorithm->wire_bytes(row.kind, row.bytes, row.shape, nics).nic;
  };
  if (row.forced_algorithm && (*row.forced_algorithm)->only_where_stated()) {
    return on_nic(*row.forced_algorithm);
  }
  Bytes least(HUGE_VAL);
  for (const Candidate& candidate : candidates(row.kind, row.shape, hardware)) {
    least = std::min(least, on_nic(candidate.algorithm));
  }
  return least;
}

// The rates over one NIC by size; of several times of one size the best.
using RateBySize = std::map<double, Bandwidth>;

std::vector<RateBySize> traffic_of(const std::vector<MeasuredRun>& runs,
                                   const ClusterSpec& cluster) {
  const Hardware hardware = hardware_of(cluster);
  std::map<std::tuple<CollectiveKind, GroupShape, std::string>, RateBySize> all;
  for (const Observation& row : observations_of(runs, cluster).rows) {
    if (row.shape.nodes < 2) continue;
    const int nics = row.shape.nics_per_node > 0 ? row.shape.nics_per_node
                                                 : static_cast<int>(cluster.node.nics.size());
    Bandwidth& rate = all[{row.kind, row.shape, row.source}][row.bytes.value()];
    rate = std::max(rate, least_on_nic(row, nics, hardware) / row.time);
  }
  std::vector<RateBySize> curves;
  for (auto& [group, traffic] : all) curves.push_back(std::move(traffic));
  return curves;
}

Bandwidth most_of(const RateBySize& traffic) {
  Bandwidth most;
  for (const auto& [size, rate] : traffic) most = std::max(most, rate);
  return most;
}

Bandwidth standard_rate_from(Bandwidth least) {
  for (const double gigabits : {10.0, 25.0, 40.0, 50.0, 100.0, 200.0, 400.0, 800.0}) {
    if (least < gigabits_per_second(gigabits)) return gigabits_per_second(gigabits);
  }
  return gigabits_per_second(1600);
}

// Whether the curve ends where the NICs are full or nearly so: at a large size, where twice the
// bytes carry less than a tenth more a second, or near enough to a standard rate. A single size
// tells only if it is so large that no latency counts.
bool levels_off(const RateBySize& traffic) {
  constexpr double large = 67108864, huge = 1073741824, rise = 1.1, near = 0.6;
  const auto& [size, rate] = *traffic.rbegin();
  if (traffic.size() == 1) return size >= huge;
  if (size < large) return false;
  const auto& [smaller, before] = *std::prev(traffic.end(), 2);
  const bool level = rate / before < std::pow(rise, std::log2(size / smaller));
  return level || most_of(traffic) > standard_rate_from(most_of(traffic)) * near;
}

double in_gigabits(Bandwidth rate) { return rate.value() * 8e-9; }

}  // namespace

NicLineRate nic_line_rate(const std::vector<MeasuredRun>& runs, const ClusterSpec& cluster,
                          const GpuType& gpu) {
  Bandwidth most;
  bool full = false;
  for (const RateBySize& traffic : traffic_of(runs, cluster)) {
    if (most_of(traffic) <= most) continue;
    most = most_of(traffic);
    full = levels_off(traffic);
  }
  const Bandwidth covering = standard_rate_from(most);
  const Bandwidth usual = usual_nic_rate(gpu);
  if (full || covering >= usual) {
    return {covering, fmt::format("line rate of a NIC: the slowest standard rate that covers the "
                                  "measured traffic, {:.0f} Gb/s",
                                  in_gigabits(covering))};
  }
  return {usual, fmt::format("{}one carried {} at most and would more with larger sizes; {:.0f} "
                             "Gb/s taken, usual beside {} (--cluster CLUSTER says what it is)",
                             guessed, human(most), in_gigabits(usual), gpu.spec.name)};
}

std::string guessed_nic_rate(const ClusterSpec& cluster) {
  for (const std::string& assumption : cluster.assumptions) {
    if (assumption.starts_with(guessed)) return assumption;
  }
  return {};
}

}  // namespace amsp
