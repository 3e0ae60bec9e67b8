// SPDX-License-Identifier: Apache-2.0
#include "calibrate/plausible_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/counted.hpp"
#include "base/units_text.hpp"
#include "calibrate/candidate.hpp"

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
// Data sheets state the peak at the boost clock; the highest clock of an H100 SXM (1980 MHz)
// is 1.13 times that (1755 MHz).
constexpr double most_of_peak = 1.15;
// A kernel that runs at less of the peak than this, after a generous start, ran on no GPU.
constexpr Seconds longest_kernel_start = Seconds(0.1);
constexpr double slowest_share = 1e-4;
// The best of a table of a model's shapes reaches half of the peak or more; a tenth of that is odd.
constexpr double slow_table = 0.05;
// A small size that takes this long at its best is possible (TCP, many ranks), but rare.
constexpr Bytes small_size = Bytes(65536);
constexpr Seconds slow_start = Seconds(0.01);

// In-network reduction (SHARP, NVLS) and trees over two nodes let bus bandwidth exceed what ports
// carry, at most twofold; 10 % on top for coarse clocks.
constexpr double most_of_ports = 2.2;

// What one GPU of the cluster can send at most, inside its node or out of it.
Bandwidth widest(const ClusterSpec& cluster) {
  const NodeSpec& node = cluster.node;
  const Bandwidth rate = std::max(node.intra.gpu_rate, node.pcie_rate);
  Bandwidth nics;
  for (const NicSpec& nic : node.nics) nics = nics + nic.rate;
  return std::max(rate, nics);
}

// What a group's bus bandwidth is at most without in-network reduction: a node's NICs, or, inside a
// node, a GPU's ports. In pairwise exchanges each GPU has its share of the NICs.
Bandwidth port_bound(const Observation& row, const ClusterSpec& cluster) {
  const GroupShape& shape = row.shape;
  if (shape.nodes < 2 || shape.ranks <= cluster.node.gpus || cluster.node.nics.empty())
    return widest(cluster);
  Bandwidth nics, best;
  for (const NicSpec& nic : cluster.node.nics) {
    nics = nics + nic.rate;
    best = std::max(best, nic.rate);
  }
  if (shape.nics_per_node > 0) nics = std::min(nics, best * shape.nics_per_node);
  return nics;
}

Bandwidth bus_bandwidth(const Observation& row) {
  return row.bytes / row.time * bus_factor(row.kind, row.shape.ranks);
}

std::string figure(const Observation& row) {
  return fmt::format("{}: {}: {} over {} ranks, {} in {}, is a bus bandwidth of {}", row.source,
                     row.place, name_of(row.kind), row.shape.ranks, human(row.bytes),
                     human(row.time), human(bus_bandwidth(row)));
}

// Rows of one file, kind and group, from the smallest size on.
using Series = std::tuple<std::string, CollectiveKind, GroupShape>;

void warn_above(const std::vector<const Observation*>& rows, const ClusterSpec& cluster,
                std::vector<std::string>& warnings) {
  const Observation* worst = nullptr;
  std::size_t above = 0;
  for (const Observation* row : rows) {
    if (bus_bandwidth(*row) <= port_bound(*row, cluster) * most_of_ports) continue;
    ++above;
    if (worst == nullptr || bus_bandwidth(*row) > bus_bandwidth(*worst)) worst = row;
  }
  if (worst == nullptr) return;
  warnings.push_back(fmt::format(
      "{}, {:.2g} times the {} that the ports of {} carry ({} of {} above {} times): are "
      "bandwidths in GB/s (not Gb/s), sizes in bytes, and is it this cluster?",
      figure(*worst), bus_bandwidth(*worst) / port_bound(*worst, cluster),
      human(port_bound(*worst, cluster)), cluster.name, above, counted(rows.size(), "row"),
      most_of_ports));
}

bool warn_slow_start(const std::vector<const Observation*>& rows,
                     std::vector<std::string>& warnings) {
  const Observation* best = nullptr;
  for (const Observation* row : rows)
    if (row->bytes <= small_size && (best == nullptr || row->time < best->time)) best = row;
  if (best == nullptr || best->time < slow_start) return false;
  warnings.push_back(
      fmt::format("{}: {}: {} over {} ranks takes {} for {} at best, far more than is "
                  "usual; is the time in its unit (s, ms or us)?",
                  best->source, best->place, name_of(best->kind), best->shape.ranks,
                  human(best->time), human(best->bytes)));
  return true;
}

// Small sizes are bound by latency, which a generous start covers.
void warn_below(const std::vector<const Observation*>& rows, const ClusterSpec& cluster,
                std::vector<std::string>& warnings) {
  const Observation* largest = rows.front();
  for (const Observation* row : rows)
    if (row->bytes > largest->bytes || (row->bytes == largest->bytes && row->time < largest->time))
      largest = row;
  const int per_node = std::max(1, largest->shape.ranks_per_node);
  Bandwidth carried = port_bound(*largest, cluster);
  if (largest->shape.nodes > 1)  // of few ranks each may use one NIC only
    for (const NicSpec& nic : cluster.node.nics) carried = std::min(carried, nic.rate * per_node);
  const int sharing = is_pairwise(largest->kind) ? per_node : 1;
  const Bandwidth least = carried / (unit_error * sharing);
  const Bytes moved = largest->bytes * bus_factor(largest->kind, largest->shape.ranks);
  if (largest->time <= slow_start + moved / least) return;
  warnings.push_back(fmt::format(
      "{}, less than 1/{:.0f} of the {} that the ports of {} carry, at the largest size: are times "
      "in their unit, sizes in bytes, and is it this cluster's network?",
      figure(*largest), unit_error, human(carried), cluster.name));
}

}  // namespace

std::optional<std::string> implausible(const Observation& row, const ClusterSpec& cluster) {
  if (row.time < shortest_time) {
    return fmt::format("{} for {} is shorter than any kernel takes to start; is the unit seconds?",
                       human(row.time), human(row.bytes));
  }
  const Bandwidth reached = bus_bandwidth(row);
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
  if (reached > peak->second * most_of_peak) {
    return fmt::format(
        "{} are {:.3g} times the {} peak of {}; is it this GPU, and the time in seconds?",
        human(reached), reached / peak->second, name_of(row.kernel.dtype), gpu.name);
  }
  if (row.time > longest_kernel_start + flops_of(row.kernel) / (peak->second * slowest_share)) {
    return fmt::format("{} for {} is longer than any GPU takes; is the time in seconds?",
                       human(row.time), human(flops_of(row.kernel)));
  }
  return std::nullopt;
}

std::optional<std::string> slow_kernels(const std::vector<KernelTime>& rows, const GpuSpec& gpu) {
  double best = 0;
  const KernelTime* fastest = nullptr;
  for (const KernelTime& row : rows) {
    const auto peak = gpu.peak.find(row.kernel.dtype);
    if (peak == gpu.peak.end()) continue;
    const double share = flops_of(row.kernel) / row.time / peak->second;
    if (fastest == nullptr || share > best) fastest = &row;
    best = std::max(best, share);
  }
  if (fastest == nullptr || best >= slow_table) return std::nullopt;
  return fmt::format(
      "{}: the fastest kernel ({}) reaches {:.2g} % of the {} peak of {}; is the time in seconds?",
      fastest->source, fastest->place, 100 * best, name_of(fastest->kernel.dtype), gpu.name);
}

void refuse_implausible(Observations& all, const ClusterSpec& cluster) {
  std::erase_if(all.rows, [&](const Observation& row) {
    const auto reason = implausible(row, cluster);
    if (reason) all.refused.push_back({row.source, row.place, *reason});
    return reason.has_value();
  });
  std::map<Series, std::vector<const Observation*>> series_rows;
  for (const Observation& row : all.rows)
    series_rows[{row.source, row.kind, row.shape}].push_back(&row);
  for (const auto& [series, rows] : series_rows) {
    warn_above(rows, cluster, all.warnings);
    if (!warn_slow_start(rows, all.warnings)) warn_below(rows, cluster, all.warnings);
  }
}

}  // namespace amsp
