// SPDX-License-Identifier: Apache-2.0
// The closed forms of docs/model/20-collectives.md against the links that the algorithms load: what
// the fullest GPU's port and the fullest NIC carry, for every algorithm.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "calibrate/group_layout.hpp"
#include "calibrate/nccl_algorithm.hpp"

using namespace amsp;

namespace {

// The first `per_node` GPUs of each of the first nodes.
std::vector<GpuId> group_of(const ClusterSpec& cluster, int nodes, int per_node) {
  std::vector<GpuId> group;
  for (int node = 0; node < nodes; ++node)
    for (int slot = 0; slot < per_node; ++slot) group.emplace_back(node * cluster.node.gpus + slot);
  return group;
}

struct Fullest {
  double port = 0, nic = 0;
};

Fullest fullest_of(const Traffic& traffic, const Network& network) {
  Fullest fullest;
  for (const LinkLoad& load : traffic.links) {
    const Link& link = network.links()[load.link.position()];
    const double carried = load.load * traffic.flow.value();
    const VertexKind from = network.vertices()[link.from.position()].kind;
    const VertexKind to = network.vertices()[link.to.position()].kind;
    const bool outside = (from == VertexKind::nic && to == VertexKind::leaf) ||
                         (from == VertexKind::leaf && to == VertexKind::nic);
    if (link.kind == LinkKind::nvlink) fullest.port = std::max(fullest.port, carried);
    if (outside) fullest.nic = std::max(fullest.nic, carried);
  }
  return fullest;
}

// Everything that a machine can have, so that every algorithm is offered where NCCL has it at all.
Hardware able(const ClusterSpec& cluster) {
  Hardware hardware = hardware_of(cluster);
  hardware.nvls = true;
  hardware.nccl = {99, 0, 0};
  hardware.collnet = CollnetUse::by_tuner;
  return hardware;
}

// Returns how many kinds were checked.
int check(Algorithm algorithm, const Network& network, int nodes, int per_node) {
  const auto group = group_of(network.cluster(), nodes, per_node);
  const GroupLayout layout(group, network);
  const GroupShape shape = layout.shape();
  const Bytes bytes(1 << 24);
  const Hardware hardware = able(network.cluster());
  const bool tree = name_of(algorithm) == "tree";
  int checked = 0;
  for (const std::string& name : collective_kind_names()) {
    const CollectiveKind kind = parse_collective_kind(name);
    const Protocols offered = algorithm->offered(kind, shape, hardware);
    // NCCL takes no tree on one node, but there is one.
    if (!offered.simple && !(tree && nodes == 1 && algorithm->supports(kind))) continue;
    REQUIRE(algorithm->supports(kind));
    ++checked;
    const Traffic traffic = algorithm->traffic(kind, bytes, group, 0, network);
    const Fullest found = fullest_of(traffic, network);
    const int nics = std::max(1, shape.nics_per_node);
    const WireBytes formula = algorithm->wire_bytes(kind, bytes, shape, nics);
    INFO(fmt::format("{} {} on {}: {} nodes of {}, {} NICs", name_of(algorithm), name_of(kind),
                     network.cluster().name, nodes, per_node, nics));
    if (tree && per_node > 2 && 2 * nics >= per_node) {
      // A bound: each GPU is at an end of some chains, where it carries half.
      const double ends = static_cast<double>(2 * nics / per_node) / nics;
      CHECK(found.port == Approx(bytes.value() * (2 - ends)));
      CHECK(found.port <= formula.port.value());
    } else {
      CHECK(found.port == Approx(formula.port.value()));
    }
    CHECK(found.nic == Approx(formula.nic.value()));
  }
  return checked;
}

}  // namespace

TEST_CASE("the formulas' bytes are those of the fullest port and NIC, for every algorithm") {
  const auto [name, per_nodes] = GENERATE(
      table<std::string, std::vector<int>>({{"dgx-h100", {1, 2, 3, 4, 8}},  // a NIC for each GPU
                                            {"a800-4hdr", {1, 2, 4, 8}},    // two GPUs share one
                                            {"gb200-nvl72", {1, 4, 72}},    // a rack is a node
                                            {"a100-4x100g-roce", {1, 2, 4, 8}}}));
  std::map<Algorithm, int> checked;
  for (const int nodes : {1, 2, 3, 4, 7, 16}) {
    ClusterSpec cluster = load_cluster(name);
    cluster = resized(cluster, nodes * cluster.node.gpus);
    const Network network(cluster);
    for (const int per_node : per_nodes) {
      if (nodes * per_node < 2 || nodes * per_node > 300) continue;
      for (const Algorithm algorithm : nccl_algorithms()) {
        checked[algorithm] += check(algorithm, network, nodes, per_node);
      }
    }
  }
  for (const Algorithm algorithm : nccl_algorithms()) {
    CAPTURE(name_of(algorithm));
    CHECK(checked[algorithm] > 0);
  }
}
