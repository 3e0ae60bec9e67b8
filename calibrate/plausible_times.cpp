// SPDX-License-Identifier: Apache-2.0
#include "calibrate/plausible_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/counted.hpp"
#include "base/units_text.hpp"
#include "calibrate/candidate.hpp"
#include "calibrate/logs/table_cells.hpp"

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
// No collective takes less: 3 us at best on GPUs of one node.
constexpr Seconds shortest_collective = microseconds(2);

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

// Of the ports that the group uses at least 1/30, in pairwise exchanges for each GPU its share.
struct Least {
  Bandwidth carried, least;
};
Least least_of(const Observation& row, const ClusterSpec& cluster) {
  const int per_node = std::max(1, row.shape.ranks_per_node);
  Bandwidth carried = port_bound(row, cluster);
  if (row.shape.nodes > 1)  // of few ranks each may use one NIC only
    for (const NicSpec& nic : cluster.node.nics) carried = std::min(carried, nic.rate * per_node);
  const int sharing = is_pairwise(row.kind) ? per_node : 1;
  return {carried, carried / (unit_error * sharing)};
}

// Small sizes are bound by latency, which a generous start covers.
bool is_slow(const Observation& row, Seconds time, const ClusterSpec& cluster) {
  const Bytes moved = row.bytes * bus_factor(row.kind, row.shape.ranks);
  return time > slow_start + moved / least_of(row, cluster).least;
}

// What may be wrong with a series: at most one for each file is said.
enum class Doubt { too_fast, late_start, too_slow };
struct Said {
  std::string text, question;
  std::size_t series = 0;
};
using Doubts = std::map<std::pair<std::string, Doubt>, Said>;

// Rows of one file, kind and group.
class Series {
 public:
  Series(const ClusterSpec& cluster, std::string unit)
      : cluster_(cluster), unit_(std::move(unit)) {}

  void add(const Observation& row) { rows_.push_back(&row); }
  [[nodiscard]] const std::vector<const Observation*>& rows() const { return rows_; }

  // "is the time in ms, not s?" where another unit makes the series plausible, else "".
  [[nodiscard]] std::string unit_question() const {
    for (const double factor : {1e-3, 1e3, 1e-6, 1e6}) {
      if (!is_plausible(factor)) continue;
      const std::string then =
          fmt::format(" ({} would then be {} of bus bandwidth)", human(largest().bytes),
                      human(bus_bandwidth(largest()) / factor));
      for (const double unit : {1e-3, 1.0, 1e3, 1e6})
        if (const auto right = time_unit_name(unit * factor);
            time_unit_name(unit) == unit_ && !right.empty())
          return fmt::format("is the time in {}, not {}?{}", right, unit_, then);
      return fmt::format("are the times {:g} times too {}?{}", std::max(factor, 1 / factor),
                         factor < 1 ? "long" : "short", then);
    }
    return "";
  }

  void doubt(Doubts& all) const {
    above(all);
    if (!slow_at_start(all)) below(all);
  }

 private:
  [[nodiscard]] const Observation& largest() const {
    return **std::max_element(rows_.begin(), rows_.end(), [](const auto* a, const auto* b) {
      return std::tuple(a->bytes, b->time) < std::tuple(b->bytes, a->time);
    });
  }

  [[nodiscard]] const Observation* fastest_small() const {
    const Observation* best = nullptr;
    for (const Observation* row : rows_)
      if (row->bytes <= small_size && (best == nullptr || row->time < best->time)) best = row;
    return best;
  }

  [[nodiscard]] bool is_plausible(double factor) const {
    for (const Observation* row : rows_)
      if (row->time * factor < shortest_collective) return false;
    if (const Observation* small = fastest_small(); small && small->time * factor >= slow_start)
      return false;
    const Observation& row = largest();
    return bus_bandwidth(row) / factor <= widest(cluster_) * most_of_ports &&
           !is_slow(row, row.time * factor, cluster_);
  }

  void say(Doubts& all, Doubt doubt, std::string text, const std::string& generic) const {
    Said& said = all[{rows_.front()->source, doubt}];
    if (++said.series > 1) return;
    const std::string unit = unit_question();
    said.text = std::move(text);
    said.question = unit.empty() ? generic : unit;
  }

  void above(Doubts& all) const {
    const Observation* worst = nullptr;
    std::size_t count = 0;
    for (const Observation* row : rows_) {
      if (bus_bandwidth(*row) <= port_bound(*row, cluster_) * most_of_ports) continue;
      ++count;
      if (worst == nullptr || bus_bandwidth(*row) > bus_bandwidth(*worst)) worst = row;
    }
    if (worst == nullptr) return;
    const Bandwidth bound = port_bound(*worst, cluster_);
    say(all, Doubt::too_fast,
        fmt::format("{}, {:.2g} times the {} that the ports of {} carry ({} of {} above {} times)",
                    figure(*worst), bus_bandwidth(*worst) / bound, human(bound), cluster_.name,
                    count, counted(rows_.size(), "row"), most_of_ports),
        "are bandwidths in GB/s (not Gb/s), sizes in bytes, and is it this cluster?");
  }

  bool slow_at_start(Doubts& all) const {
    const Observation* best = fastest_small();
    if (best == nullptr || best->time < slow_start) return false;
    say(all, Doubt::late_start,
        fmt::format("{}: {}: {} over {} ranks takes {} for {} at best, far more than is usual",
                    best->source, best->place, name_of(best->kind), best->shape.ranks,
                    human(best->time), human(best->bytes)),
        "is the time in its unit (s, ms or us)?");
    return true;
  }

  void below(Doubts& all) const {
    const Observation& row = largest();
    if (!is_slow(row, row.time, cluster_)) return;
    say(all, Doubt::too_slow,
        fmt::format("{}, less than 1/{:.0f} of the {} that the ports of {} carry, at the largest "
                    "size",
                    figure(row), unit_error, human(least_of(row, cluster_).carried), cluster_.name),
        "are times in their unit, sizes in bytes, and is it this cluster's network?");
  }

  const ClusterSpec& cluster_;
  std::string unit_;
  std::vector<const Observation*> rows_;
};

using AllSeries = std::map<std::tuple<std::string, CollectiveKind, GroupShape>, Series>;

AllSeries series_of(const std::vector<Observation>& rows, const std::vector<MeasuredRun>& runs,
                    const ClusterSpec& cluster) {
  AllSeries all;
  for (const Observation& row : rows) {
    const auto run = static_cast<std::size_t>(row.run) - 1;  // rows count runs from 1
    all.try_emplace({row.source, row.kind, row.shape}, cluster,
                    run < runs.size() ? runs[run].time_unit : "")
        .first->second.add(row);
  }
  return all;
}

// The rows to refuse, with the reason.
std::map<const Observation*, std::string> implausible_rows(const AllSeries& all,
                                                           const ClusterSpec& cluster) {
  std::map<const Observation*, std::string> reasons;
  for (const auto& [key, series] : all) {
    std::map<const Observation*, std::string> found;
    for (const Observation* row : series.rows())
      if (const auto reason = implausible(*row, cluster)) found[row] = *reason;
    if (found.empty()) continue;
    const std::string unit = series.unit_question();
    const std::size_t impossible = found.size();
    if (2 * impossible > series.rows().size())
      for (const Observation* row : series.rows())
        found.try_emplace(row, fmt::format("{} of {} of this table are impossible", impossible,
                                           counted(series.rows().size(), "time")));
    for (auto& [row, reason] : found)
      reasons[row] =
          reason + "; " + (unit.empty() ? "is the time in its unit (s, ms or us)?" : unit);
  }
  return reasons;
}

}  // namespace

std::optional<std::string> implausible(const Observation& row, const ClusterSpec& cluster) {
  if (row.time < shortest_time) {
    return fmt::format("{} for {} is shorter than any kernel takes to start", human(row.time),
                       human(row.bytes));
  }
  const Bandwidth reached = bus_bandwidth(row);
  if (const Bandwidth most = widest(cluster); reached > most * unit_error) {
    return fmt::format("{} in {} is a bus bandwidth of {}, {:.0f} times what a GPU of {} can send",
                       human(row.bytes), human(row.time), human(reached), reached / most,
                       cluster.name);
  }
  if (row.time > longest_start + row.bytes / slowest_network) {
    return fmt::format("{} for {} is longer than any network takes", human(row.time),
                       human(row.bytes));
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

void refuse_implausible(Observations& all, const std::vector<MeasuredRun>& runs,
                        const ClusterSpec& cluster) {
  const auto reasons = implausible_rows(series_of(all.rows, runs, cluster), cluster);
  std::vector<Observation> kept;
  for (Observation& row : all.rows) {
    if (const auto found = reasons.find(&row); found != reasons.end())
      all.refused.push_back({row.source, row.place, found->second});
    else
      kept.push_back(std::move(row));
  }
  all.rows = std::move(kept);
  Doubts doubts;
  for (const auto& [key, series] : series_of(all.rows, runs, cluster)) series.doubt(doubts);
  for (const auto& [key, said] : doubts)
    all.warnings.push_back(
        said.text +
        (said.series > 1 ? " (and " + counted(said.series - 1, "more table") + ")" : "") + ": " +
        said.question);
}

}  // namespace amsp
