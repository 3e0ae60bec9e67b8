// SPDX-License-Identifier: Apache-2.0
// What a cluster is made of (docs/formats/cluster.md). Rates are per direction, as in data sheets;
// achievable rates come from a calibration, else data sheet x `Achievable`.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/dtype.hpp"
#include "base/id.hpp"
#include "base/json_value.hpp"
#include "base/quantity.hpp"
#include "topologies/gpu_spec.hpp"

namespace amsp {

enum class IntraNodeKind { nvswitch, nvlink_mesh, pcie };

// How GPUs of a node reach each other. "NVLink" stands for any direct GPU link (XGMI too).
struct IntraNodeSpec {
  IntraNodeKind kind = IntraNodeKind::nvswitch;
  Bandwidth gpu_rate;      // one GPU into all its NVLinks, or into its PCIe slot, per direction
  Seconds latency;         // one NVLink hop
  bool multicast = false;  // the switch can reduce and multicast (NVLS)
  // nvswitch: slots whose rate is less (an NVLink is down); 0 = not on the switch, only on PCIe.
  std::map<int, Bandwidth> slower_gpus;
  // nvlink_mesh: number of links between GPUs a < b ("0-1": 2); rate of one link.
  std::map<std::pair<int, int>, int> mesh_links;
  Bandwidth mesh_link_rate;
  bool operator==(const IntraNodeSpec&) const = default;
};

struct NicSpec {
  std::string name;       // "mlx5_0"
  Bandwidth rate;         // line rate per direction
  std::vector<int> gpus;  // GPU slots that are nearest; empty: found from the PCIe tree
  int socket = 0;         // CPU socket (NUMA node)
  int pcie_switch = -1;   // position in NodeSpec::switch_socket; -1 = directly on its socket
  bool operator==(const NicSpec&) const = default;
};

// The PCIe tree: GPUs and NICs on switches, switches on sockets, sockets on each other.
struct NodeSpec {
  GpuSpec gpu;
  int gpus = 1;
  IntraNodeSpec intra;
  Bandwidth pcie_rate;             // one slot or switch uplink, per direction (0 = not described)
  Seconds pcie_latency;            // one PCIe hop
  std::vector<int> gpu_socket;     // CPU socket of each GPU slot (empty: all 0)
  std::vector<int> gpu_switch;     // PCIe switch of each GPU slot, -1 = on its socket (empty: all)
  std::vector<int> switch_socket;  // CPU socket of each PCIe switch
  Bandwidth socket_rate;           // between two CPU sockets, effective (0 = one socket)
  std::vector<NicSpec> nics;
  bool operator==(const NodeSpec&) const = default;

  [[nodiscard]] int socket_of_slot(int slot) const;  // of the switch that the GPU is on, if any
  [[nodiscard]] int switch_of_slot(int slot) const;  // -1 = none
  [[nodiscard]] int sockets() const;                 // highest socket named + 1
  // Data-sheet rate of the slowest GPU's port: what a ring over all GPUs has.
  [[nodiscard]] Bandwidth slowest_port() const;
};

enum class FabricKind { none, single_switch, leaf_spine, fat_tree, rail_optimized };
enum class Spreading { ideal, ecmp };  // traffic over equal paths: perfect, or hashed per flow

struct FabricSpec {
  FabricKind kind = FabricKind::single_switch;
  int nodes_per_leaf = 0;         // leaf_spine, fat_tree; rail_optimized: nodes of one rail group
  int leaves_per_pod = 0;         // fat_tree (three levels)
  double oversubscription = 1.0;  // down : up capacity of a leaf
  double core_oversubscription = 1.0;  // fat_tree: down : up capacity of a pod
  int spines = 0;                      // paths between leaves (of a pod); 0: one ideal pipe
  Seconds hop_latency;                 // one switch
  Seconds nic_latency;                 // one NIC
  Spreading spreading = Spreading::ideal;
  std::uint64_t ecmp_seed = 1;
  bool operator==(const FabricSpec&) const = default;
};

// Share of data-sheet link rates that traffic reaches when nothing was measured.
// NVLink and PCIe about 0.8, InfiniBand and RoCE 0.96 of the line rate (NCCL maintainers' rules of
// thumb: A100 235 of 300 GB/s, H100 365 of 450 GB/s; 24 of 25 GB/s per 200 Gb/s NIC).
struct Achievable {
  double intra = 0.8;
  double nic = 0.96;
  bool operator==(const Achievable&) const = default;
};

struct ClusterSpec {
  std::string name;
  std::string description;               // one line for `amsp list clusters`
  std::vector<std::string> sources;      // data sheets
  std::vector<std::string> assumptions;  // what the sources do not say
  NodeSpec node;
  int nodes = 1;
  FabricSpec fabric;
  Achievable achievable;
  double price_per_gpu_hour = 0;  // currency-free; 0 = unknown
  std::string calibration;        // default calibration (name or path); may be empty
  std::string hash;  // SHA-256 of the canonical text, so that layout and comments do not matter
  bool operator==(const ClusterSpec&) const = default;

  [[nodiscard]] int gpus() const { return nodes * node.gpus; }
  [[nodiscard]] NodeId node_of(GpuId gpu) const { return NodeId(gpu.index / node.gpus); }
  [[nodiscard]] int slot_of(GpuId gpu) const { return gpu.index % node.gpus; }
};

std::string_view name_of(IntraNodeKind kind);  // "nvswitch"
std::string_view name_of(FabricKind kind);     // "leaf_spine"

// Name or path. Throws InputError with the place of anything unknown, missing or inconsistent.
ClusterSpec load_cluster(std::string_view name_or_path);
ClusterSpec parse_cluster(const JsonValue& json);
std::string to_json(const ClusterSpec& cluster);  // parse_cluster(to_json(c)) == c

// The same cluster with just enough nodes for `gpus` GPUs (which fill whole nodes, or lie in one).
// The hash stays that of the file. Throws InputError when `gpus` is not positive, does not fill
// whole nodes, or needs several nodes of a cluster without a fabric.
ClusterSpec resized(ClusterSpec cluster, int gpus);

}  // namespace amsp
