// SPDX-License-Identifier: Apache-2.0
#include "topologies/network_measures.hpp"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>
#include <cmath>
#include <map>
#include <tuple>

namespace amsp {
namespace {

// Whole bytes per second: maximum flow on integers ends exactly.
using Capacity = long long;
using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
struct FlowEdge {
  Capacity capacity = 0;
  Capacity residual = 0;
  Traits::edge_descriptor reverse;
};
using FlowGraph =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, FlowEdge>;

class FlowNetwork {
 public:
  explicit FlowNetwork(std::size_t vertices) : graph_(vertices + 2) {}
  [[nodiscard]] std::size_t source() const { return boost::num_vertices(graph_) - 2; }
  [[nodiscard]] std::size_t sink() const { return boost::num_vertices(graph_) - 1; }

  void add(std::size_t from, std::size_t to, Bandwidth rate) {
    const auto forward = boost::add_edge(from, to, graph_).first;
    const auto backward = boost::add_edge(to, from, graph_).first;
    graph_[forward].capacity = std::llround(rate.value());
    graph_[forward].reverse = backward;
    graph_[backward].reverse = forward;
  }

  Bandwidth maximum() {
    const Capacity flow = boost::push_relabel_max_flow(
        graph_, source(), sink(),
        boost::capacity_map(boost::get(&FlowEdge::capacity, graph_))
            .residual_capacity_map(boost::get(&FlowEdge::residual, graph_))
            .reverse_edge_map(boost::get(&FlowEdge::reverse, graph_))
            .vertex_index_map(boost::get(boost::vertex_index, graph_)));
    return Bandwidth(static_cast<double>(flow));
  }

 private:
  FlowGraph graph_;
};

// All GPUs of a half are one source: node-internal links do not count.
Bandwidth bisection_across(const Network& network) {
  const auto& vertices = network.vertices();
  const int half = network.cluster().nodes / 2;
  const auto is_switch = [&](VertexId id) { return !vertices[id.position()].node.valid(); };
  std::size_t first_switch = vertices.size();
  while (first_switch > 0 && !vertices[first_switch - 1].node.valid()) --first_switch;
  const auto number = [&](VertexId id) { return id.position() - first_switch; };
  FlowNetwork flow(vertices.size() - first_switch);
  std::map<std::size_t, Bandwidth> into, out_of;  // by leaf
  for (const Link& link : network.links()) {
    if (is_switch(link.from) && is_switch(link.to))
      flow.add(number(link.from), number(link.to), link.capacity);
    else if (is_switch(link.to) && vertices[link.from.position()].node.index < half)
      into[number(link.to)] += link.capacity;
    else if (is_switch(link.from) && vertices[link.to.position()].node.index >= half)
      out_of[number(link.from)] += link.capacity;
  }
  for (const auto& [leaf, rate] : into) flow.add(flow.source(), leaf, rate);
  for (const auto& [leaf, rate] : out_of) flow.add(leaf, flow.sink(), rate);
  return flow.maximum();
}

Bandwidth bisection_inside(const Network& network, bool nvlink_only) {
  FlowNetwork flow(network.vertices().size());
  const int gpus = network.cluster().node.gpus;
  Bandwidth all;
  for (const Link& link : network.links()) {
    if (link.kind == LinkKind::nic || (nvlink_only && link.kind != LinkKind::nvlink)) continue;
    flow.add(link.from.position(), link.to.position(), link.capacity);
    all += link.capacity;
  }
  for (int gpu = 0; gpu < gpus; ++gpu) {
    const auto vertex = static_cast<std::size_t>(gpu);  // GPUs come first
    if (gpu < gpus / 2)
      flow.add(flow.source(), vertex, all);
    else
      flow.add(vertex, flow.sink(), all);
  }
  return flow.maximum();
}

Distance measured(const Network& network, std::string what, GpuId to,
                  const std::vector<LinkId>& route) {
  Distance distance{std::move(what), GpuId(0), to, static_cast<int>(route.size()), 0, {}, {}};
  for (const LinkId id : route) {
    const Link& link = network.links()[id.position()];
    distance.latency += link.latency;
    if (distance.capacity <= Bandwidth(0) || link.capacity < distance.capacity)
      distance.capacity = link.capacity;
    if (!network.vertices()[link.to.position()].node.valid()) ++distance.switches;
  }
  return distance;
}

}  // namespace

Bandwidth bisection_bandwidth(const Network& network) {
  if (network.cluster().nodes > 1) return bisection_across(network);
  if (network.cluster().node.gpus < 2) return Bandwidth(0);
  // NVLink traffic does not spill over to PCIe; where no NVLink crosses, PCIe is all there is.
  const Bandwidth nvlink = bisection_inside(network, true);
  return nvlink > Bandwidth(0) ? nvlink : bisection_inside(network, false);
}

std::vector<Distance> distances(const Network& network) {
  std::vector<Distance> found;
  const ClusterSpec& cluster = network.cluster();
  std::vector<LinkId> route;
  // Inside the node there may be several lengths (meshes, PCIe trees).
  for (int slot = 1; slot < cluster.node.gpus; ++slot) {
    route.clear();
    network.route_inside(GpuId(0), GpuId(slot), route);
    Distance distance = measured(network, "same node", GpuId(slot), route);
    const bool known = std::any_of(found.begin(), found.end(), [&](const Distance& other) {
      return other.hops == distance.hops && other.capacity == distance.capacity;
    });
    if (!known) found.push_back(std::move(distance));
  }
  if (cluster.nodes < 2) return found;
  const std::vector<int> first_slot{0};
  const NicId nic = network.nics_of(first_slot).front();
  bool seen[3] = {};
  for (int node = 1; node < cluster.nodes; ++node) {
    const bool same_leaf = network.leaf_of(NodeId(0), nic) == network.leaf_of(NodeId(node), nic);
    const bool same_pod = network.pod_of(NodeId(0)) == network.pod_of(NodeId(node));
    const int kind = same_leaf ? 0 : same_pod ? 1 : 2;
    if (seen[kind]) continue;
    seen[kind] = true;
    constexpr const char* names[] = {"same leaf", "across leaves", "across pods"};
    route.clear();
    const GpuId to(node * cluster.node.gpus);
    network.route_across(GpuId(0), nic, to, nic, 0, route);
    found.push_back(measured(network, names[kind], to, route));
  }
  return found;
}

std::vector<LinkGroup> link_groups(const Network& network) {
  std::vector<LinkGroup> groups;
  std::map<std::tuple<LinkKind, VertexKind, VertexKind, double>, std::size_t> position;
  for (std::size_t i = 0; i < network.links().size(); ++i) {
    const Link& link = network.links()[i];
    const VertexKind from = network.vertices()[link.from.position()].kind;
    const VertexKind to = network.vertices()[link.to.position()].kind;
    const auto [entry, is_new] =
        position.try_emplace({link.kind, from, to, link.capacity.value()}, groups.size());
    if (is_new) groups.push_back({link.kind, from, to, link.capacity, 0, LinkId(i)});
    ++groups[entry->second].links;
  }
  return groups;
}

}  // namespace amsp
