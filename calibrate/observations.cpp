// SPDX-License-Identifier: Apache-2.0
#include "calibrate/observations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "calibrate/logs/log_names.hpp"
#include "calibrate/plausible_times.hpp"
#include "calibrate/wrong_runs.hpp"

namespace amsp {
namespace {

// What NCCL_ALGO and NCCL_PROTO, or the table's own columns, say.
void take_forced(const MeasuredRow& row, const MeasuredRun& run, Observation& observation) {
  const std::string algorithm = row.algorithm.empty() ? run.algorithm : row.algorithm;
  const std::string protocol = row.protocol.empty() ? run.protocol : row.protocol;
  observation.forced_algorithm = algorithm_named(algorithm);
  for (const Protocol known : {Protocol::ll, Protocol::ll128, Protocol::simple}) {
    if (protocol == name_of(known)) observation.forced_protocol = known;
  }
}

std::string no_collective(const MeasuredRun& run) {
  if (run.collective_text.empty()) return "the log names no collective";
  return unknown_name("collective", run.collective_text, collective_kind_names());
}

class Collector {
 public:
  Collector(const ClusterSpec& cluster, Observations& result)
      : cluster_(cluster), result_(result) {}

  void add(const MeasuredRun& run) {
    ++runs_;
    for (const RefusedLine& line : run.refused) {
      refuse(run, line.line, line.reason);
    }
    if (const auto wrong = wrong_as_a_whole(run)) {
      result_.warnings.push_back(fmt::format("{}: lines {} to {}: {}; nothing of this run is used",
                                             run.file, run.first_line, run.last_line, *wrong));
      return refuse(run, run.first_line, *wrong);
    }
    if (!run.collective) return refuse(run, run.first_line, no_collective(run));
    if (!run.nranks) return refuse(run, run.first_line, "the number of ranks is not known");
    if (*run.nranks < 2) return refuse(run, run.first_line, "one rank communicates with nobody");
    if (run.cpu_time) return refuse(run, run.first_line, "holds times to launch, not to complete");
    if (run.channels) return refuse(run, run.first_line, "the number of channels was forced");
    const GroupShape shape = shape_of(run);
    for (const MeasuredRow& row : run.rows) add(run, row, shape);
  }

 private:
  void refuse(const MeasuredRun& run, std::size_t line, const std::string& reason) {
    result_.refused.push_back({run.file, fmt::format("line {}", line), reason});
  }

  GroupShape shape_of(const MeasuredRun& run) const {
    int per_node = run.gpus_per_node.value_or(0);
    if (per_node == 0 && run.nnodes) per_node = (*run.nranks + *run.nnodes - 1) / *run.nnodes;
    // Hosts of one NVLink domain (GB200 NVL72: 18 hosts of 4 GPUs) are one node here. A host itself
    // has up to 16 GPUs (DGX-2).
    if (per_node > 0 && cluster_.node.gpus > 16 && per_node < cluster_.node.gpus) per_node = 0;
    GroupShape shape = shape_on(cluster_, *run.nranks, std::min(per_node, cluster_.node.gpus));
    const int all = static_cast<int>(cluster_.node.nics.size());
    if (shape.nodes > 1 && run.nics_per_node && *run.nics_per_node < all) {
      shape.nics_per_node = *run.nics_per_node;
    }
    return shape;
  }

  void add(const MeasuredRun& run, const MeasuredRow& row, const GroupShape& shape) {
    if (!(row.bytes > Bytes(0))) return;  // sizes that round down to nothing
    if (row.channels) return refuse(run, row.line, "the number of channels was forced");
    for (const MeasuredTiming* timing : {&row.out_of_place, &row.in_place}) {
      if (!timing->time || !(*timing->time > Seconds(0))) continue;
      if (timing->wrong && *timing->wrong >= 1) {
        refuse(run, row.line, "the result was wrong");
        continue;
      }
      Observation observation;
      observation.kind = *run.collective;
      observation.shape = shape;
      observation.bytes = row.bytes;
      observation.time = *timing->time;
      observation.source = run.file;
      observation.run = runs_;
      observation.place = fmt::format("line {}", row.line);
      take_forced(row, run, observation);
      if (run.library == "NCCL") observation.nccl = parse_nccl_version(run.nccl_version);
      result_.rows.push_back(std::move(observation));
    }
  }

  const ClusterSpec& cluster_;
  Observations& result_;
  int runs_ = 0;
};

// A large buffer that moves at less than half of the bandwidth of smaller ones met something else
// than the network (swapped or registered memory, a time slice): seen above 4 GiB in public data.
void refuse_collapses(Observations& all) {
  constexpr double large = 1073741824.0;
  constexpr double collapse = 0.5;
  using Key = std::tuple<std::string, int, GroupShape>;
  std::map<Key, double> best;
  const auto key = [](const Observation& row) {
    return Key{row.source, static_cast<int>(row.kind), row.shape};
  };
  for (const Observation& row : all.rows) {
    double& rate = best[key(row)];
    rate = std::max(rate, (row.bytes / row.time).value());
  }
  const auto collapsed = [&](const Observation& row) {
    return row.bytes.value() > large && (row.bytes / row.time).value() < collapse * best[key(row)];
  };
  for (const Observation& row : all.rows) {
    if (collapsed(row)) {
      all.refused.push_back(
          {row.source, row.place, "less than half of the bandwidth of other sizes"});
    }
  }
  std::erase_if(all.rows, collapsed);
}

}  // namespace

GroupShape shape_on(const ClusterSpec& cluster, int ranks, int ranks_per_node) {
  GroupShape shape;
  shape.ranks = ranks;
  const int per_node = ranks_per_node > 0 ? ranks_per_node : cluster.node.gpus;
  shape.ranks_per_node = std::min(ranks, per_node);
  shape.nodes = (ranks + shape.ranks_per_node - 1) / shape.ranks_per_node;
  if (shape.nodes == 1 || cluster.node.nics.empty()) return shape;
  const int all = static_cast<int>(cluster.node.nics.size());
  if (shape.ranks_per_node >= cluster.node.gpus) return shape;  // 0: all of them
  std::set<int> used;
  for (int nic = 0; nic < all; ++nic) {
    for (const int gpu : cluster.node.nics[static_cast<std::size_t>(nic)].gpus) {
      if (gpu < shape.ranks_per_node) used.insert(nic);
    }
  }
  const int share = std::max(1, all * shape.ranks_per_node / cluster.node.gpus);
  shape.nics_per_node = used.empty() ? share : static_cast<int>(used.size());
  if (shape.nics_per_node == all) shape.nics_per_node = 0;
  return shape;
}

Observations observations_of(const std::vector<MeasuredRun>& runs, const ClusterSpec& cluster) {
  Observations result;
  Collector collector(cluster, result);
  for (const MeasuredRun& run : runs) collector.add(run);
  refuse_implausible(result, runs, cluster);
  refuse_collapses(result);
  return result;
}

}  // namespace amsp
