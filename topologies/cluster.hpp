// SPDX-License-Identifier: Apache-2.0
// What a cluster is made of (docs/formats/cluster.md). Rates are per direction, as in data sheets;
// achievable rates come from a calibration, else datasheet x `achievable`.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.hpp"
#include "base/id.hpp"
#include "base/json_value.hpp"
#include "base/quantity.hpp"

namespace amsp {

struct GpuSpec {
  std::string name;                // "NVIDIA A800-SXM4-80GB"
  Bytes memory;                    // as sold (80 GB cards hold 80 GiB less ECC: data sheet)
  std::map<Dtype, FlopRate> peak;  // dense peak of the matrix units
  Bandwidth hbm;                   // HBM data-sheet rate
  int multiprocessors = 0;         // SMs (or CUs)
};

enum class IntraNodeKind { nvswitch, nvlink_mesh, pcie };

struct IntraNodeSpec {
  IntraNodeKind kind = IntraNodeKind::nvswitch;
  Bandwidth gpu_rate;  // one GPU into the switch / mesh / PCIe slot, per direction
  Seconds latency;     // one hop
  // nvlink_mesh: number of links between GPUs a < b ("0-1": 2); rate of one link.
  std::map<std::pair<int, int>, int> mesh_links;
  Bandwidth mesh_link_rate;
};

struct NicSpec {
  std::string name;       // "mlx5_0"
  Bandwidth rate;         // line rate per direction
  std::vector<int> gpus;  // GPU slots that are nearest (same PCIe switch)
  int socket = 0;         // CPU socket
};

struct NodeSpec {
  GpuSpec gpu;
  int gpus = 1;
  IntraNodeSpec intra;
  Bandwidth pcie_rate;          // GPU to NIC path of one PCIe switch, per direction
  std::vector<int> gpu_socket;  // CPU socket of each GPU slot (may be empty: all 0)
  Bandwidth socket_rate;        // between CPU sockets (0 = one socket)
  std::vector<NicSpec> nics;
};

enum class FabricKind { none, single_switch, leaf_spine, fat_tree, rail_optimized };
enum class Spreading { ideal, ecmp };  // traffic over equal paths: perfect, or hashed per flow

struct FabricSpec {
  FabricKind kind = FabricKind::single_switch;
  int nodes_per_leaf = 0;         // leaf_spine, fat_tree
  int leaves_per_pod = 0;         // fat_tree (three levels); rail_optimized: nodes per rail group
  double oversubscription = 1.0;  // down : up capacity of a leaf
  int spines = 0;                 // paths between leaves (0: one ideal pipe)
  Seconds hop_latency;            // one switch
  Spreading spreading = Spreading::ideal;
  std::uint64_t ecmp_seed = 1;
};

struct ClusterSpec {
  std::string name;
  std::string description;           // one line for `amsp list clusters`
  std::vector<std::string> sources;  // data sheets
  NodeSpec node;
  int nodes = 1;
  FabricSpec fabric;
  double achievable = 0.8;        // share of data-sheet link rates without calibration
  double price_per_gpu_hour = 0;  // currency-free; 0 = unknown
  std::string calibration;        // default calibration (name or path); may be empty
  std::string hash;               // SHA-256 of the file's text

  [[nodiscard]] int gpus() const { return nodes * node.gpus; }
  [[nodiscard]] NodeId node_of(GpuId gpu) const { return NodeId(gpu.index / node.gpus); }
  [[nodiscard]] int slot_of(GpuId gpu) const { return gpu.index % node.gpus; }
};

// Name or path. Throws InputError with the place of anything unknown, missing or inconsistent.
ClusterSpec load_cluster(std::string_view name_or_path);
ClusterSpec parse_cluster(const JsonValue& json);
std::string to_json(const ClusterSpec& cluster);  // parse_cluster(to_json(c)) == c

// The same cluster with just enough nodes for `gpus` GPUs (which fill whole nodes, or lie in one).
// Throws InputError when more are asked for than limit_nodes allows (0: no limit).
ClusterSpec resized(ClusterSpec cluster, int gpus);

}  // namespace amsp
