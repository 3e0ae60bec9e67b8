// SPDX-License-Identifier: Apache-2.0
// CollNet (NCCL's CollNetDirect): the network's switches add (SHARP). Inside a node every GPU hands
// each head GPU, one for every NIC, that head's part of the buffer, and gets the sum back from it;
// a head sends its part up the network once and receives the sum once, where a ring's NICs carry
// 2(n-1)/n x bytes. A switch passes on one copy, whatever the number of ports below it.
#include <algorithm>
#include <set>

#include "calibrate/group_layout.hpp"

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

class Collnet : public CollectiveAlgorithm {
 public:
  std::string_view name() const override { return "collnet"; }
  std::string_view description() const override {
    return "the network's switches add (SHARP), only where logs say so: all_reduce";
  }
  bool supports(CollectiveKind kind) const override { return kind == CollectiveKind::all_reduce; }

  Traffic traffic(CollectiveKind, Bytes bytes, std::span<const GpuId> group, int,
                  const Network& network) const override {
    if (group.size() < 2) return {};
    const GroupLayout layout(group, network);
    LoadSum sum(network);
    for (int channel = 0; channel < layout.channels; ++channel) {
      std::vector<Head> heads;
      for (std::size_t node = 0; node < layout.nodes.size(); ++node) {
        const auto chain = layout.chain(node, channel, network.cluster());
        add_inside(chain, network, sum);
        if (layout.nodes.size() < 2) continue;
        heads.push_back({layout.nodes[node].node, chain.front(), layout.nic(node, channel)});
      }
      if (heads.empty()) continue;
      add_nodes(heads, channel, network, sum);
      add_switches(heads, channel, network, sum);
    }
    return {bytes / layout.channels, sum.take()};
  }

  std::vector<Message> messages(CollectiveKind, Bytes, std::span<const GpuId>, int,
                                const Network&) const override {
    return {};
  }

 private:
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
