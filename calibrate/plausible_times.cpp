// SPDX-License-Identifier: Apache-2.0
#include "calibrate/plausible_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/units_text.hpp"

namespace amsp {
namespace {

// No kernel starts in less: an empty launch takes some 2 us on every GPU since 2016.
constexpr Seconds shortest_time = microseconds(0.1);
// Units differ by 1000; what is misjudged about a machine (link generation, NVLS, another GPU than
// the cluster's) stays far below 30.
constexpr double unit_error = 30;
// Slower than any network that NCCL runs over, after a generous start.
constexpr Seconds longest_start = Seconds(10);
constexpr Bandwidth slowest_network = Bandwidth(1e6);
// A kernel that runs at less of the peak than this, after a generous start, ran on no GPU.
constexpr Seconds longest_kernel_start = Seconds(0.1);
constexpr double slowest_share = 1e-4;
// A small size that takes this long at its best is possible (TCP, many ranks), but rare.
constexpr Bytes small_size = Bytes(65536);
constexpr Seconds slow_start = Seconds(0.01);

// What one GPU of the cluster can send at most, inside its node or out of it.
Bandwidth widest(const ClusterSpec& cluster) {
  const NodeSpec& node = cluster.node;
  const Bandwidth rate = std::max(node.intra.gpu_rate, node.pcie_rate);
  Bandwidth nics;
  for (const NicSpec& nic : node.nics) nics = nics + nic.rate;
  return std::max(rate, nics);
}

}  // namespace

std::optional<std::string> implausible(const Observation& row, const ClusterSpec& cluster) {
  if (row.time < shortest_time) {
    return fmt::format("{} for {} is shorter than any kernel takes to start; is the unit seconds?",
                       human(row.time), human(row.bytes));
  }
  const Bandwidth reached = row.bytes / row.time * bus_factor(row.kind, row.shape.ranks);
  if (const Bandwidth most = widest(cluster); reached > most * unit_error) {
    return fmt::format(
        "{} in {} is a bus bandwidth of {}, {:.0f} times what a GPU of {} can send; is the time in "
        "its unit (s, ms or us)?",
        human(row.bytes), human(row.time), human(reached), reached / most, cluster.name);
  }
  if (row.time > longest_start + row.bytes / slowest_network) {
    return fmt::format("{} for {} is longer than any network takes; is the unit microseconds?",
                       human(row.time), human(row.bytes));
  }
  return std::nullopt;
}

std::optional<std::string> implausible(const KernelTime& row, const GpuSpec& gpu) {
  if (row.time < shortest_time) {
    return fmt::format("{} is shorter than any kernel takes to start; is the unit seconds?",
                       human(row.time));
  }
  const auto peak = gpu.peak.find(row.kernel.dtype);
  const FlopRate reached = flops_of(row.kernel) / row.time;
  if (peak == gpu.peak.end()) return std::nullopt;
  if (reached > peak->second * unit_error) {
    return fmt::format("{} are {:.0f} times the peak of {}; is the time in seconds?",
                       human(reached), reached / peak->second, gpu.name);
  }
  if (row.time > longest_kernel_start + flops_of(row.kernel) / (peak->second * slowest_share)) {
    return fmt::format("{} for {} is longer than any GPU takes; is the time in seconds?",
                       human(row.time), human(flops_of(row.kernel)));
  }
  return std::nullopt;
}

void refuse_implausible(Observations& all, const ClusterSpec& cluster) {
  std::erase_if(all.rows, [&](const Observation& row) {
    const auto reason = implausible(row, cluster);
    if (reason) all.refused.push_back({row.source, row.place, *reason});
    return reason.has_value();
  });
  using Series = std::tuple<std::string, CollectiveKind, GroupShape>;
  std::map<Series, const Observation*> fastest;
  for (const Observation& row : all.rows) {
    if (row.bytes > small_size) continue;
    const Observation*& best = fastest[{row.source, row.kind, row.shape}];
    if (best == nullptr || row.time < best->time) best = &row;
  }
  for (const auto& [series, row] : fastest) {
    if (row->time < slow_start) continue;
    all.warnings.push_back(
        fmt::format("{}: {}: {} over {} ranks takes {} for {} at best, far more than is "
                    "usual; is the time in its unit (s, ms or us)?",
                    row->source, row->place, name_of(row->kind), row->shape.ranks, human(row->time),
                    human(row->bytes)));
  }
}

}  // namespace amsp
