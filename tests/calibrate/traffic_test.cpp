// SPDX-License-Identifier: Apache-2.0
// The traffic of the algorithms against closed forms.
#include <rapidcheck/catch.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <numeric>

#include "calibrate/collective_algorithm.hpp"
#include "calibrate/group_layout.hpp"
#include "calibrate/nccl_algorithm.hpp"

using namespace amsp;

namespace {

ClusterSpec cluster_of(int nodes) {
  ClusterSpec cluster = load_cluster("a800-4hdr");
  return resized(cluster, nodes * cluster.node.gpus);
}

std::vector<GpuId> first_gpus(int count) {
  std::vector<GpuId> group;
  for (int i = 0; i < count; ++i) group.emplace_back(i);
  return group;
}

// Bytes that enter each node over its NICs, by node.
std::map<int, double> bytes_into_nodes(const Traffic& traffic, const Network& network) {
  std::map<int, double> bytes;
  for (const LinkLoad& load : traffic.links) {
    const Link& link = network.links()[load.link.position()];
    const Vertex& from = network.vertices()[link.from.position()];
    const Vertex& to = network.vertices()[link.to.position()];
    if (link.kind == LinkKind::nic && to.kind == VertexKind::nic && from.kind != VertexKind::gpu) {
      bytes[to.node.index] += load.load * traffic.flow.value();
    }
  }
  return bytes;
}

// The same from the messages.
std::map<int, double> message_bytes_into_nodes(const std::vector<Message>& messages,
                                               const ClusterSpec& cluster) {
  std::map<int, double> bytes;
  for (const Message& message : messages) {
    const NodeId to = cluster.node_of(message.to);
    if (cluster.node_of(message.from) != to) bytes[to.index] += message.bytes.value();
  }
  return bytes;
}

}  // namespace

TEST_CASE("ring: every edge between nodes carries the closed form, summed over channels") {
  rc::prop("ring", [] {
    const int nodes = *rc::gen::inRange(2, 9);
    const auto kind = *rc::gen::element(CollectiveKind::all_reduce, CollectiveKind::all_gather,
                                        CollectiveKind::reduce_scatter);
    const Bytes bytes(*rc::gen::inRange(1, 1 << 20) * 1024.0);
    const ClusterSpec cluster = cluster_of(nodes);
    const Network network(cluster);
    const auto group = first_gpus(cluster.gpus());
    const CollectiveAlgorithm& ring = find_collective_algorithm("ring");
    const double expected = bytes.value() * bus_factor(kind, static_cast<int>(group.size()));
    const auto into = bytes_into_nodes(ring.traffic(kind, bytes, group, 0, network), network);
    RC_ASSERT(into.size() == static_cast<std::size_t>(nodes));
    for (const auto& [node, carried] : into) {
      RC_ASSERT(std::abs(carried / expected - 1) < 1e-9);
    }
  });
}

TEST_CASE("ring: a broadcast's chain leaves out the edge into the root") {
  const ClusterSpec cluster = cluster_of(4);
  const Network network(cluster);
  const auto group = first_gpus(32);
  const CollectiveAlgorithm& ring = find_collective_algorithm("ring");
  const auto into = bytes_into_nodes(
      ring.traffic(CollectiveKind::broadcast, Bytes(4096), group, 0, network), network);
  // Node 0 holds the root: three nodes receive the whole buffer; node 0 receives what its GPUs
  // behind the root in the channels' chains need.
  for (int node = 1; node < 4; ++node) CHECK(into.at(node) == Approx(4096));
}

TEST_CASE("messages carry as many bytes into each node as the traffic says") {
  const ClusterSpec cluster = cluster_of(3);
  const Network network(cluster);
  const auto group = first_gpus(24);
  const Bytes bytes(3 * 1048576.0);
  for (const auto& [name, kind] : std::vector<std::pair<std::string, CollectiveKind>>{
           {"ring", CollectiveKind::all_reduce},
           {"ring", CollectiveKind::all_gather},
           {"ring", CollectiveKind::broadcast},
           {"ring", CollectiveKind::reduce},
           {"tree", CollectiveKind::all_reduce},
           {"pairwise", CollectiveKind::all_to_all},
           {"pairwise", CollectiveKind::send_recv}}) {
    CAPTURE(name, name_of(kind));
    const CollectiveAlgorithm& algorithm = find_collective_algorithm(name);
    const auto fluid = bytes_into_nodes(algorithm.traffic(kind, bytes, group, 2, network), network);
    const auto sent =
        message_bytes_into_nodes(algorithm.messages(kind, bytes, group, 2, network), cluster);
    REQUIRE(fluid.size() == sent.size());
    for (const auto& [node, carried] : fluid) CHECK(carried == Approx(sent.at(node)));
  }
}

TEST_CASE("all_to_all loads a node's NICs with r (n - r) / n of the bytes") {
  for (const int nodes : {2, 5, 100}) {
    const ClusterSpec cluster = cluster_of(nodes);
    const Network network(cluster);
    const auto group = first_gpus(cluster.gpus());
    const Bytes bytes(8e6);
    const Traffic traffic = find_collective_algorithm("pairwise")
                                .traffic(CollectiveKind::all_to_all, bytes, group, 0, network);
    const double n = cluster.gpus();
    for (const auto& [node, carried] : bytes_into_nodes(traffic, network)) {
      CHECK(carried == Approx(bytes.value() * 8 * (n - 8) / n));
    }
  }
}

TEST_CASE("tree: two nodes exchange 1 x bytes, many at most 2 x bytes") {
  for (const int nodes : {2, 3, 4, 7, 16, 33}) {
    const ClusterSpec cluster = cluster_of(nodes);
    const Network network(cluster);
    const Traffic traffic = find_collective_algorithm("tree").traffic(
        CollectiveKind::all_reduce, Bytes(1e6), first_gpus(cluster.gpus()), 0, network);
    double most = 0;
    double total = 0;
    for (const auto& [node, carried] : bytes_into_nodes(traffic, network)) {
      most = std::max(most, carried);
      total += carried;
    }
    // Each of the N-1 edges of both trees carries half of the data both ways.
    CHECK(total == Approx(2e6 * (nodes - 1)));
    CHECK(most == Approx(nodes == 2 ? 1e6 : nodes == 3 ? 1.5e6 : 2e6));
  }
}

TEST_CASE("a group with one GPU in each node uses one NIC a node") {
  const ClusterSpec cluster = cluster_of(4);
  const Network network(cluster);
  std::vector<GpuId> group;
  for (int node = 0; node < 4; ++node) group.emplace_back(node * 8 + 5);
  const GroupLayout layout(group, network);
  CHECK(layout.channels == 1);
  CHECK(layout.shape() == GroupShape{4, 1, 4, 1});
  const Traffic traffic = find_collective_algorithm("ring").traffic(CollectiveKind::all_reduce,
                                                                    Bytes(4e6), group, 0, network);
  CHECK(traffic.flow.value() == Approx(6e6));
}

TEST_CASE("inside a node a ring loads each GPU's port once each way") {
  const ClusterSpec cluster = cluster_of(1);
  const Network network(cluster);
  const Traffic traffic = find_collective_algorithm("ring").traffic(
      CollectiveKind::all_gather, Bytes(8e6), first_gpus(8), 0, network);
  CHECK(traffic.flow.value() == Approx(7e6));
  CHECK(traffic.links.size() == 16);
  for (const LinkLoad& load : traffic.links) CHECK(load.load == 1.0);
}

TEST_CASE("traffic of 131072 GPUs grows with the links, not with the pairs") {
  ClusterSpec cluster = load_cluster("a800-4hdr");
  cluster.nodes = 16384;
  const Network network(cluster);
  const auto group = first_gpus(131072);
  for (const char* name : {"ring", "tree"}) {
    const Traffic traffic = find_collective_algorithm(name).traffic(CollectiveKind::all_reduce,
                                                                    Bytes(1e9), group, 0, network);
    CHECK(traffic.links.size() > 131072);
  }
  const Traffic pairs = find_collective_algorithm("pairwise")
                            .traffic(CollectiveKind::all_to_all, Bytes(1e9), group, 0, network);
  CHECK(pairs.links.size() > 131072);
  // 17 billion pairs of GPUs; a GPU has a port each way and a share of a NIC's links.
  CHECK(pairs.links.size() < 131072 * 8u);
}

TEST_CASE("loads do not depend on the size, flows are in proportion to it, for every algorithm") {
  rc::prop("proportion", [] {
    const int nodes = *rc::gen::inRange(1, 6);
    const ClusterSpec cluster = cluster_of(nodes);
    const Network network(cluster);
    auto group = first_gpus(cluster.gpus());
    // One GPU of each node, every second, or all.
    const int every = *rc::gen::element(1, 2, 8);
    std::erase_if(group, [&](GpuId gpu) { return gpu.index % every != 0; });
    const int root = *rc::gen::inRange(0, static_cast<int>(group.size()));
    const Bytes small(*rc::gen::inRange(1, 1 << 20)), large = Bytes(1 << 30);
    Hardware hardware = hardware_of(cluster);
    hardware.nvls = true;
    hardware.collnet = CollnetUse::always;
    const GroupShape shape = GroupLayout(group, network).shape();
    for (const Algorithm& algorithm : nccl_algorithms())
      for (const CollectiveKind kind :
           {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
            CollectiveKind::broadcast, CollectiveKind::all_to_all}) {
        if (group.size() < 2 || !algorithm->offered(kind, shape, hardware).simple) continue;
        const Traffic a = algorithm->traffic(kind, small, group, root, network);
        const Traffic b = algorithm->traffic(kind, large, group, root, network);
        RC_ASSERT(std::abs(a.flow / small - b.flow / large) <= 1e-12 * (b.flow / large));
        RC_ASSERT(a.links.size() == b.links.size());
        for (std::size_t i = 0; i < a.links.size(); ++i) {
          RC_ASSERT(a.links[i].link == b.links[i].link);
          RC_ASSERT(a.links[i].load == b.links[i].load);
        }
      }
  });
}
