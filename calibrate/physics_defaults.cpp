// SPDX-License-Identifier: Apache-2.0
// Start values: NVIDIA/nccl 2.30.7 (commit 5067397c), src/graph/tuning.cc, in its microseconds and
// GB/s; achieved rates from public nccl-tests logs, as noted at each.
#include <algorithm>
#include <cmath>

#include "calibrate/mesh_rings.hpp"
#include "calibrate/physics.hpp"
#include "topologies/gpu_architecture.hpp"

namespace amsp {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::optional<int> capability_of(std::string_view gpu) {
  try {
    return compute_capability(find_gpu_type(gpu).architecture);
  } catch (const InputError&) {
    return std::nullopt;  // not in the catalogue
  }
}

// NVIDIA's from Pascal on; RCCL has other versions.
NcclVersion nccl_of(std::string_view gpu) {
  return capability_of(gpu).value_or(0) >= 60 ? described_nccl : assumed_nccl;
}

// NCCL decides by compute capability; a cluster file names the GPU.
GpuGeneration generation_of(std::string_view gpu) {
  if (const auto capability = capability_of(gpu)) {
    if (*capability >= 100) return GpuGeneration::blackwell;
    if (*capability >= 90) return GpuGeneration::hopper;
    return *capability >= 80 ? GpuGeneration::ampere : GpuGeneration::volta;
  }
  for (const auto* name : {"B100", "B200", "B300"}) {
    if (contains(gpu, name)) return GpuGeneration::blackwell;
  }
  for (const auto* name : {"H100", "H200", "H800", "H20", "MI300"}) {
    if (contains(gpu, name)) return GpuGeneration::hopper;
  }
  for (const auto* name : {"V100", "P100", "T4"}) {
    if (contains(gpu, name)) return GpuGeneration::volta;
  }
  return GpuGeneration::ampere;
}

// Clusters without NICs are one node; the rate then never counts.
Bandwidth nic_rate(const NodeSpec& node) {
  return node.nics.empty() ? gigabits_per_second(100) : node.nics.front().rate;
}

// What rings over the first `count` GPUs of a node can use of one GPU's port: all of it behind a
// switch; in a mesh, the links that lie on the rings (six of seven where all eight are joined).
Bandwidth ring_rate(const ClusterSpec& cluster, int count) {
  const IntraNodeSpec& intra = cluster.node.intra;
  if (intra.kind != IntraNodeKind::nvlink_mesh || count < 2) return cluster.node.slowest_port();
  std::vector<GpuId> gpus;
  for (int gpu = 0; gpu < count; ++gpu) gpus.emplace_back(gpu);
  std::size_t links = mesh_rings(gpus, cluster).size();
  if (count == 2) {
    const auto pair = intra.mesh_links.find({0, 1});
    links = pair == intra.mesh_links.end() ? 0 : static_cast<std::size_t>(pair->second);
  }
  return links == 0 ? intra.gpu_rate : intra.mesh_link_rate * static_cast<double>(links);
}

// Share of a port's data-sheet rate that an NVLS all_reduce moves, (n+1)/n bytes a byte of the
// buffer, from the busbw of public logs: 480 GB/s on 8 H100, 835 on 8 B200 (NVIDIA/nccl issue
// 1807), 840 on the 72 GPUs of a GB200 rack (CoreWeave's nccl-tests, NCCL 2.26.2).
double nvls_share(const NodeSpec& node) {
  if (generation_of(node.gpu.name) != GpuGeneration::blackwell) return 0.686;
  return node.gpus > 8 ? 0.48 : 0.60;
}

}  // namespace

Hardware hardware_of(const ClusterSpec& cluster) {
  const NodeSpec& node = cluster.node;
  const GpuGeneration generation = generation_of(node.gpu.name);
  const bool modern = generation == GpuGeneration::hopper || generation == GpuGeneration::blackwell;
  Hardware hardware;
  hardware.gpus_per_node = node.gpus;
  hardware.nics_per_node = std::max<int>(1, static_cast<int>(node.nics.size()));
  // NCCL needs all GPUs of the node on the NVSwitch for it.
  hardware.nvls = modern && node.intra.multicast &&
                  std::all_of(node.intra.slower_gpus.begin(), node.intra.slower_gpus.end(),
                              [](const auto& slower) { return slower.second > Bandwidth(0); });
  hardware.nccl = nccl_of(node.gpu.name);
  hardware.ll128_inside = hardware.ll128_across = node.intra.kind != IntraNodeKind::pcie;
  hardware.multiprocessors = node.gpu.multiprocessors;
  hardware.gpu_rate = node.slowest_port();
  hardware.nic_rate = nic_rate(node);
  const Bandwidth whole = ring_rate(cluster, node.gpus);
  for (int count = 0; count <= node.gpus; ++count) {
    hardware.port_share.push_back(ring_rate(cluster, count) / whole);
  }
  hardware.ring_share = whole / hardware.gpu_rate;
  if (node.intra.kind == IntraNodeKind::nvlink_mesh) {
    hardware.pair_share = node.intra.mesh_link_rate / whole;
  }
  hardware.system.generation = generation;
  hardware.system.pcie = node.intra.kind == IntraNodeKind::pcie;
  return hardware;
}

PhysicsParameters default_parameters(const ClusterSpec& cluster) {
  const NodeSpec& node = cluster.node;
  const bool pcie = node.intra.kind == IntraNodeKind::pcie;
  PhysicsParameters p;
  // baseLatencies and hwLatencies, row Ring.
  p[Parameter::base_ll] = 6.6e-6;
  p[Parameter::base_ll128] = 14e-6;
  p[Parameter::base_simple] = 8.4e-6;
  p[Parameter::inside_ll] = pcie ? 1.0e-6 : 0.6e-6;
  p[Parameter::inside_ll128] = pcie ? 2.5e-6 : 1.9e-6;
  p[Parameter::inside_simple] = pcie ? 5.7e-6 : 3.4e-6;
  p[Parameter::across_ll] = 2.7e-6;
  p[Parameter::across_ll128] = 4.0e-6;
  p[Parameter::across_simple] = 14e-6;
  p[Parameter::across_growth] = 0.02;  // all but none
  // Public logs of rings on InfiniBand and Slingshot: the longer of both ways counts nearly alone.
  p[Parameter::overlap] = 2;
  p[Parameter::step_bytes] = 1048576;  // two slots of 512 KiB (src/enqueue.cc)
  p[Parameter::tree_growth] = 0.4;     // a Simple step counts 1.4 times once its slices are full
  p[Parameter::tree_step] = 1.85;      // row Tree: 5.0/2.7, 8.5/4.0, 14/14
  // Achieved busbw / data sheet: A100 235/300, H100 365/450, B200 680/900 (nccl-tests logs): the
  // cluster's own share of data-sheet rates.
  p[Parameter::rate_inside] = cluster.achievable.intra * ring_rate(cluster, node.gpus).value();
  // 12 of 12.5, 24 of 25, 46 to 48 of 50 GB/s (nccl-tests maintainers): 0.96.
  p[Parameter::rate_nic] = cluster.achievable.nic * nic_rate(node).value();
  // llMaxBws, three nodes and more: hosts that are not AMD's (19 GB/s there), of any generation.
  p[Parameter::ceiling_ll] = 20.4e9;
  // None in NCCL's model beyond its share; Slingshot logs show 14 GB/s.
  p[Parameter::ceiling_ll128] =
      std::max<double>(1, static_cast<double>(node.nics.size())) * p[Parameter::rate_nic];
  p[Parameter::share_ll128] = 0.92;
  p[Parameter::share_tree] = 0.92;
  p[Parameter::tree_loss] = 0.001;  // all but none; Slingshot logs show 0.01
  p[Parameter::rate_nvls] = nvls_share(node) * node.slowest_port().value();
  p[Parameter::latency_nvls] = 25e-6;
  p[Parameter::choose_ll] = 1;
  p[Parameter::choose_ll128] = 1;
  p[Parameter::choose_tree] = 1;
  p[Parameter::choose_wide_tree] = 1 / 0.85;  // the plain tree pattern's (src/graph/tuning.cc)
  p[Parameter::choose_nvls] = 1;
  // A Simple hop's 14 us over a NIC's eight slots in flight.
  p[Parameter::gap_simple] = 1.75e-6;
  // Two slices of at least 32 KiB for each of two channels (src/device/prims_simple.h).
  p[Parameter::small_step] = 131072;
  p[Parameter::small_stretch] = 1;
  p[Parameter::ll_step] = 1048576;        // all but any
  p[Parameter::latency_collnet] = 31e-6;  // hwLatencies, row NET, CollNetDirect
  p[Parameter::rate_collnet] = p[Parameter::rate_nic];
  return p;
}

std::string_view name_of(Parameter parameter) {
  constexpr std::array<std::string_view, parameter_count> names{
      "base_ll",       "base_ll128",       "base_simple",     "inside_ll",     "inside_ll128",
      "inside_simple", "across_ll",        "across_ll128",    "across_simple", "across_growth",
      "overlap",       "step_bytes",       "tree_step",       "tree_growth",   "rate_inside",
      "rate_nic",      "ceiling_ll",       "ceiling_ll128",   "share_ll128",   "share_tree",
      "tree_loss",     "rate_nvls",        "latency_nvls",    "choose_ll",     "choose_ll128",
      "choose_tree",   "choose_wide_tree", "choose_nvls",     "gap_simple",    "small_step",
      "small_stretch", "ll_step",          "latency_collnet", "rate_collnet"};
  return names[static_cast<std::size_t>(parameter)];
}

ParameterUnit unit_of(Parameter parameter) {
  switch (parameter) {
    case Parameter::rate_inside:
    case Parameter::rate_nic:
    case Parameter::ceiling_ll:
    case Parameter::ceiling_ll128:
    case Parameter::rate_nvls:
    case Parameter::rate_collnet:
      return ParameterUnit::bytes_per_second;
    case Parameter::step_bytes:
    case Parameter::small_step:
    case Parameter::ll_step:
      return ParameterUnit::bytes;
    default:
      break;
  }
  return parameter <= Parameter::across_simple || parameter == Parameter::latency_nvls ||
                 parameter == Parameter::gap_simple || parameter == Parameter::latency_collnet
             ? ParameterUnit::seconds
             : ParameterUnit::ratio;
}

}  // namespace amsp
