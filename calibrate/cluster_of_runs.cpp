// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/counted.hpp"
#include "base/file.hpp"
#include "calibrate/nic_line_rate.hpp"
#include "calibrate/observations.hpp"
#include "topologies/gpu_architecture.hpp"

namespace amsp {
namespace {

// A GPU that no shipped file describes: the user can say what machine it is.
GpuType gpu_named(const std::string& name, const std::string& file) {
  try {
    return find_gpu_type(name, {file, ""});
  } catch (const InputError& error) {
    throw InputError(fmt::format(
        "{}; say which cluster the log is of with --cluster CLUSTER, its own file or one of {}",
        error.what(), fmt::join(data_names("topologies"), ", ")));
  }
}

GpuType gpu_of(const std::vector<MeasuredRun>& runs) {
  std::map<std::string, std::string> names;  // and the first file that has it
  for (const MeasuredRun& run : runs) {
    if (!run.gpu.empty()) names.try_emplace(run.gpu, run.file);
  }
  if (names.empty()) {
    throw InputError(
        {runs.front().file, ""},
        "no GPU is named in it, nor in any other log; say which cluster with --cluster");
  }
  std::set<std::string> types;
  GpuType type;
  for (const auto& [name, file] : names) {
    type = gpu_named(name, file);
    types.insert(type.spec.name);
  }
  if (types.size() > 1) {
    std::string all;
    for (const std::string& name : types) all += (all.empty() ? "" : ", ") + name;
    throw InputError("the logs are of different GPUs (" + all +
                     "); one calibration describes one cluster");
  }
  return type;
}

int gpus_per_node(const std::vector<MeasuredRun>& runs, std::vector<std::string>& assumptions) {
  int gpus = 0;
  for (const MeasuredRun& run : runs) {
    int here = run.gpus_per_node.value_or(0);
    if (here == 0 && run.nranks && run.nnodes) here = (*run.nranks + *run.nnodes - 1) / *run.nnodes;
    gpus = std::max(gpus, here);
  }
  if (gpus > 0) return gpus;
  for (const MeasuredRun& run : runs) gpus = std::max(gpus, run.nranks.value_or(1));
  gpus = std::min(gpus, 8);
  assumptions.push_back(
      fmt::format("the logs do not say how many GPUs a node has: {} taken", gpus));
  return gpus;
}

// NVLink hop, PCIe hop, switch and NIC: as in the shipped cluster files.
constexpr Seconds nvlink_hop = microseconds(0.3), pcie_hop = microseconds(0.15);
constexpr Seconds switch_hop = microseconds(0.13), nic_hop = microseconds(0.3);

// Logs do not show how the GPUs of a node are joined.
void assume_links(const GpuType& type, const NodeSpec& node, std::vector<std::string>& all) {
  if (node.gpus < 2 || type.nvlinks == 0) return;
  if (node.intra.kind == IntraNodeKind::pcie) {
    all.push_back(
        "the logs do not show how the GPUs of a node are joined: PCIe taken; bridges, if "
        "there are any, join pairs");
    return;
  }
  all.push_back(
      fmt::format("the logs do not show how the GPUs of a node are joined: all links of each "
                  "({}) into a switch taken, which {}",
                  type.nvlinks, node.intra.multicast ? "reduces (NVLS)" : "does not reduce"));
}

NodeSpec node_of(const GpuType& type, int gpus, int nics) {
  NodeSpec node;
  node.gpu = type.spec;
  node.gpus = gpus;
  node.pcie_rate = type.pcie_rate;
  node.pcie_latency = pcie_hop;
  node.intra.latency = nvlink_hop;
  if (type.nvlinks > 0 && !has_bridges_only(type)) {
    node.intra.kind = IntraNodeKind::nvswitch;
    node.intra.gpu_rate = type.nvlink_rate * type.nvlinks;
    // Boards of four Hopper GPUs have no switch.
    node.intra.multicast = gpus >= 8 && reduces_in_switch(type, gpus);
  } else {
    node.intra.kind = IntraNodeKind::pcie;
    node.intra.gpu_rate = type.pcie_rate;
  }
  for (int nic = 0; nic < nics; ++nic) {
    NicSpec spec;
    spec.name = fmt::format("nic{}", nic);
    spec.rate = gigabits_per_second(200);
    for (int gpu = nic * gpus / nics; gpu < (nic + 1) * gpus / nics; ++gpu)
      spec.gpus.push_back(gpu);
    if (spec.gpus.empty()) spec.gpus.push_back(nic * gpus / nics);
    node.nics.push_back(std::move(spec));
  }
  return node;
}

}  // namespace

ClusterSpec cluster_of_runs(const std::vector<MeasuredRun>& runs) {
  ClusterSpec cluster;
  const GpuType type = gpu_of(runs);
  const int gpus = gpus_per_node(runs, cluster.assumptions);
  int nics = 0, nodes = 1;
  for (const MeasuredRun& run : runs) {
    nics = std::max(nics, run.nics_per_node.value_or(0));
    const int ranks = run.nranks.value_or(1);
    nodes = std::max(nodes, run.nnodes.value_or((ranks + gpus - 1) / gpus));
  }
  if (nics == 0) {
    nics = gpus;
    cluster.assumptions.push_back(
        "the logs do not say how many NICs a node has: one per GPU taken");
  }
  cluster.node = node_of(type, gpus, nics);
  assume_links(type, cluster.node, cluster.assumptions);
  cluster.nodes = nodes;
  cluster.fabric.kind = nodes > 1 ? FabricKind::single_switch : FabricKind::none;
  cluster.fabric.hop_latency = switch_hop;
  cluster.fabric.nic_latency = nic_hop;
  cluster.name = "from-logs";
  cluster.description =
      fmt::format("{} of type {} a node, as the logs say", counted(gpus, "GPU"), type.spec.name);
  cluster.sources = {"the measurement logs of this calibration"};
  if (nodes > 1) {
    NicLineRate line = nic_line_rate(runs, cluster, type);
    for (NicSpec& nic : cluster.node.nics) nic.rate = line.rate;
    cluster.assumptions.push_back(std::move(line.assumption));
  } else {
    cluster.node.nics.clear();
  }
  cluster.assumptions.push_back("hop latencies as in the shipped cluster files; one ideal switch");
  // Through the reader, so that what it checks holds and the hash is set.
  return parse_cluster(JsonValue::parse_text(to_json(cluster), "cluster from logs"));
}

}  // namespace amsp
