// SPDX-License-Identifier: Apache-2.0
// The network of a cluster as a graph: devices and directed links with capacities, and the routes
// that NCCL's traffic takes. Vertices and links are numbered node by node, so equal nodes look
// equal; building is linear in the number of GPUs (131072 GPUs in well under a second).
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.hpp"
#include "base/quantity.hpp"
#include "topologies/cluster.hpp"

namespace amsp {

enum class VertexKind { gpu, nvswitch, pcie_switch, cpu, nic, leaf, spine, core };
enum class LinkKind { nvlink, pcie, socket, nic, fabric };

std::string_view name_of(VertexKind kind);
std::string_view name_of(LinkKind kind);

struct Vertex {
  VertexKind kind;
  NodeId node;   // invalid for fabric switches
  int slot = 0;  // GPU slot, NIC index, switch number
};

struct Link {
  VertexId from, to;
  LinkKind kind;
  Bandwidth capacity;  // achievable
  Seconds latency;
};

// Achievable rates from a calibration; zero = data sheet x cluster.achievable.
struct AchievableRates {
  Bandwidth gpu_intra;  // one GPU into NVLink / PCIe
  Bandwidth nic;        // one NIC
};

class Network {
 public:
  explicit Network(const ClusterSpec& cluster, const AchievableRates& achievable = {});

  [[nodiscard]] const ClusterSpec& cluster() const { return cluster_; }
  [[nodiscard]] const std::vector<Vertex>& vertices() const { return vertices_; }
  [[nodiscard]] const std::vector<Link>& links() const { return links_; }
  [[nodiscard]] std::string name_of(LinkId link) const;      // "node3/gpu5→nvswitch"
  [[nodiscard]] std::string name_of(VertexId vertex) const;  // "node3/gpu5", "pod1/spine0"

  // Scale a link's capacity. Degraded: 0 < factor < 1; failed: 0 (a NIC's link or one of several
  // equal paths: traffic goes round it from now on). Throws InputError when the factor is negative
  // or not finite, or when a failed link leaves some pair of GPUs without a route.
  void scale_capacity(LinkId link, double factor);
  // Links of a NIC (to and from its leaf; none without a fabric), and links by name (also with
  // "->"), for perturbations.
  [[nodiscard]] std::vector<LinkId> nic_links(NodeId node, NicId nic) const;
  [[nodiscard]] std::optional<LinkId> find_link(std::string_view name) const;

  // Append the links of the path to `out`.
  // Inside one node (NVLink/NVSwitch/PCIe, whichever the node has).
  void route_inside(GpuId from, GpuId to, std::vector<LinkId>& out) const;
  // Across nodes: leaves `from`'s node by `out_nic` and enters `to`'s node by `in_nic`. `flow`
  // picks the path under ECMP (a hash of it, the end points and the seed).
  void route_across(GpuId from, NicId out_nic, GpuId to, NicId in_nic, int flow,
                    std::vector<LinkId>& out) const;
  // The NICs that traffic of these GPU slots of one node uses, nearest first, without repeats
  // (each slot's nearest NICs by affinity; all NICs when every slot takes part).
  [[nodiscard]] std::vector<NicId> nics_of(std::span<const int> slots) const;
  // The same for one node, without its failed NICs (if all fail, any other of the node).
  [[nodiscard]] std::vector<NicId> nics_of(NodeId node, std::span<const int> slots) const;
  // How far a NIC is from a GPU's slot: 0 near (named, or on its switch), 1 on its socket, 2
  // beyond.
  [[nodiscard]] int nic_distance(int slot, NicId nic) const;
  // The leaf switch (pod) that a NIC of a node is on; -1 without a fabric.
  [[nodiscard]] int leaf_of(NodeId node, NicId nic) const;
  [[nodiscard]] int pod_of(NodeId node) const;

 private:
  struct Layout;  // numbering of vertices and links
  [[nodiscard]] bool works(NodeId node, NicId nic) const;
  [[nodiscard]] NicId working(NodeId node, NicId nic, int slot) const;
  ClusterSpec cluster_;
  std::vector<Vertex> vertices_;
  std::vector<Link> links_;
  std::shared_ptr<const Layout> layout_;
};

}  // namespace amsp
