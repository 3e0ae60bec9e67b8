// SPDX-License-Identifier: Apache-2.0
// CollNet (NCCL's CollNetDirect): the network's switches add (SHARP). Inside a node every GPU hands
// each head GPU, one for every NIC, that head's part of the buffer, and gets the sum back from it;
// a head sends its part up the network once and receives the sum once, where a ring's NICs carry
// 2(n-1)/n x bytes. A switch passes on one copy, whatever the number of ports below it.
#include <algorithm>
#include <cmath>
#include <set>

#include "calibrate/group_layout.hpp"
#include "calibrate/nccl_algorithm.hpp"

namespace amsp {
namespace {

struct Head {
  NodeId node;
  GpuId gpu;
  NicId nic;
};

using Route = std::vector<LinkId>;

Route route_between(const Head& from, const Head& to, int channel, const Network& network) {
  Route route;
  network.route_across(from.gpu, from.nic, to.gpu, to.nic, channel, route);
  return route;
}

VertexKind kind_of(const Network& network, VertexId vertex) {
  return network.vertices()[vertex.position()].kind;
}

// Every node's way up to its leaf switch and down from it: those of the heads in a circle, without
// what lies between switches.
void add_nodes(const std::vector<Head>& heads, int channel, const Network& network, LoadSum& sum) {
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const Head& next = heads[(i + 1) % heads.size()];
    for (const LinkId link : route_between(heads[i], next, channel, network)) {
      if (network.links()[link.position()].kind != LinkKind::fabric) sum.add({&link, 1}, 1.0);
    }
  }
}

// The links of a leaf (and of its pod, when it is the pod's first leaf) towards the top of the
// switches' tree and back: what rises on the way to another leaf's head, what falls on the way
// back.
void add_leaf(const Head& head, const Head& other, bool with_pod, int channel,
              const Network& network, LoadSum& sum) {
  const auto add = [&](const Route& route, bool upwards) {
    for (const LinkId id : route) {
      const Link& link = network.links()[id.position()];
      if (link.kind != LinkKind::fabric) continue;
      const VertexKind from = kind_of(network, link.from), to = kind_of(network, link.to);
      const bool of_leaf = from == VertexKind::leaf || to == VertexKind::leaf;
      if ((to > from) == upwards && (with_pod || of_leaf)) sum.add({&id, 1}, 1.0);
    }
  };
  add(route_between(head, other, channel, network), true);
  add(route_between(other, head, channel, network), false);
}

// One channel's tree of sums over the leaf switches; under ECMP the plane of each is its own
// hash's.
void add_switches(const std::vector<Head>& heads, int channel, const Network& network,
                  LoadSum& sum) {
  std::set<int> leaves, pods;
  std::vector<Head> first;  // of each leaf
  for (const Head& head : heads) {
    if (leaves.insert(network.leaf_of(head.node, head.nic)).second) first.push_back(head);
  }
  if (first.size() < 2) return;
  // The root's own way up ends as high as that of the others: towards another pod if there is one.
  const Head& root = first.front();
  const auto elsewhere = std::find_if(first.begin(), first.end(), [&](const Head& head) {
    return network.pod_of(head.node) != network.pod_of(root.node);
  });
  const Head& far = elsewhere == first.end() ? first[1] : *elsewhere;
  for (const Head& head : first) {
    const Head& other = &head == &root ? far : root;
    add_leaf(head, other, pods.insert(network.pod_of(head.node)).second, channel, network, sum);
  }
}

// CollNetDirect, Simple, in microseconds: a hop inside, one more peer, and through the network
// (src/graph/tuning.cc).
constexpr double inside_us = 3.7, peer_us = 0.4, across_us = 31;

class Collnet : public NcclAlgorithm {
 public:
  std::string_view name() const override { return "collnet"; }
  std::string_view description() const override {
    return "the network's switches add (SHARP), only where logs say so: all_reduce";
  }
  bool supports(CollectiveKind kind) const override { return kind == CollectiveKind::all_reduce; }

  NcclVersion since() const override { return {2, 6, 4}; }
  bool only_where_stated() const override { return true; }
  // CollNetChain: the NICs carry the same.
  std::string_view name_in_logs(std::string_view written) const override {
    if (written == "collnetdirect") return "collnet_direct";
    if (written == "collnetchain") return "collnet_chain";
    return written == "collnet" || written == "sharp" ? name() : std::string_view();
  }
  Protocols offered(CollectiveKind kind, const GroupShape& shape,
                    const Hardware& hardware) const override {
    return {.simple = supports(kind) && shape.nodes > 1 && hardware.collnet != CollnetUse::never};
  }
  // A port: r-1 parts of each NIC whose head it is, one of each other; the NICs: once up and once
  // down.
  WireBytes wire_bytes(CollectiveKind, Bytes bytes, const GroupShape& shape,
                       int nics) const override {
    const bool across = shape.nodes > 1;
    const double r = shape.ranks_per_node;
    const double parts = across ? nics : 1, own = std::ceil(parts / r);
    return {bytes * (r > 1 ? (own * (r - 2) + parts) / parts : 0),
            across ? bytes * (1.0 / nics) : Bytes(0)};
  }
  Streaming streaming() const override { return {.nic = Parameter::rate_collnet}; }
  // To the heads and back, which take in and hand out the parts of their node's other GPUs one
  // after the other, peer_us each; the network's own time has a parameter.
  Seconds latency(const NcclCall& call, Seconds, const PhysicsParameters& p) const override {
    const double peers = call.shape.ranks_per_node - 1;
    const double hops = peers > 0 ? 2.0 : 0.0;
    const double arity = 2 * (peer_us * 1e-6) * peers;
    return Seconds(p[Parameter::latency_collnet] + (hops * p[Parameter::inside_simple] + arity));
  }

  // Of the rate that the search finds inside the node, which it raises up to twice that of the
  // network: heads with several GPUs each take longer for theirs.
  TunerTime tuner_time(const NcclCall& call, const NcclGraph& graph,
                       const NcclSystem& system) const override {
    const double peers = call.shape.ranks_per_node - 1;
    const NcclTime latency(2 * (std::min(1.0, peers) * inside_us + peer_us * peers) + across_us);
    const double bus = graph.channels * graph.tree_inside.value() / 1e9;
    const double each = static_cast<double>(call.shape.ranks_per_node) / graph.channels;
    const bool modern =
        system.generation == GpuGeneration::hopper || system.generation == GpuGeneration::blackwell;
    return tuner_time_of(latency,
                         NcclRate(bus / (each - (each - 1) / 2) * (modern ? 0.85 : 1.0) * 0.5));
  }

 private:
  Bytes add_loads(const GroupCall& call, const GroupLayout& layout, const Network& network,
                  LoadSum& sum) const override {
    for (int channel = 0; channel < layout.channels; ++channel) {
      std::vector<Head> heads;
      for (std::size_t node = 0; node < layout.nodes.size(); ++node) {
        const auto chain = layout.chain(node, channel, network);
        add_inside(chain, network, sum);
        if (layout.nodes.size() < 2) continue;
        heads.push_back({layout.nodes[node].node, chain.front(), layout.nic(node, channel)});
      }
      if (heads.empty()) continue;
      add_nodes(heads, channel, network, sum);
      add_switches(heads, channel, network, sum);
    }
    return call.bytes / layout.channels;
  }

  // The parts of the node's other GPUs to the head, which comes first, and the sum back.
  static void add_inside(const std::vector<GpuId>& chain, const Network& network, LoadSum& sum) {
    Route route;
    for (std::size_t i = 1; i < chain.size(); ++i) {
      route.clear();
      network.route_inside(chain[i], chain.front(), route);
      network.route_inside(chain.front(), chain[i], route);
      sum.add(route, 1.0);
    }
  }
};

}  // namespace

std::unique_ptr<CollectiveAlgorithm> algorithm_collnet() { return std::make_unique<Collnet>(); }

}  // namespace amsp
