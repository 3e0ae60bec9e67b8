// SPDX-License-Identifier: Apache-2.0
// Properties of every network: routes are paths, equal nodes are equal, a scaled link is the only
// one that changes, a failed one is gone round.
#include <rapidcheck/catch.h>

#include <catch2/catch.hpp>
#include <numeric>

#include "random_cluster.hpp"
#include "topologies/network.hpp"
#include "topologies/network_measures.hpp"

namespace amsp {
namespace {

using test::draw;
using test::draw_cluster;

void check_path(const Network& network, const std::vector<LinkId>& route, GpuId from, GpuId to) {
  const auto& links = network.links();
  const auto is_gpu = [&](VertexId id, GpuId gpu) {
    const Vertex& vertex = network.vertices()[id.position()];
    return vertex.kind == VertexKind::gpu && vertex.node == network.cluster().node_of(gpu) &&
           vertex.slot == network.cluster().slot_of(gpu);
  };
  RC_ASSERT(!route.empty());
  RC_ASSERT(is_gpu(links[route.front().position()].from, from));
  RC_ASSERT(is_gpu(links[route.back().position()].to, to));
  for (std::size_t i = 0; i + 1 < route.size(); ++i)
    RC_ASSERT(links[route[i].position()].to == links[route[i + 1].position()].from);
  for (const LinkId link : route) RC_ASSERT(links[link.position()].capacity > Bandwidth(0));
}

std::vector<LinkId> draw_route(const Network& network, GpuId& from, GpuId& to) {
  const ClusterSpec& cluster = network.cluster();
  from = GpuId(draw(0, cluster.gpus() - 1));
  to = GpuId(draw(0, cluster.gpus() - 1));
  std::vector<LinkId> route;
  if (cluster.node_of(from) == cluster.node_of(to)) {
    network.route_inside(from, to, route);
  } else {
    const int nics = static_cast<int>(cluster.node.nics.size());
    network.route_across(from, NicId(draw(0, nics - 1)), to, NicId(draw(0, nics - 1)),
                         draw(0, 1000), route);
  }
  return route;
}

}  // namespace

TEST_CASE("clusters survive printing and parsing") {
  rc::prop("parse(print(c)) == c", [] {
    const ClusterSpec cluster = draw_cluster();
    RC_ASSERT(parse_cluster(JsonValue::parse_text(to_json(cluster), "printed")) == cluster);
  });
}

TEST_CASE("routes lead from GPU to GPU") {
  rc::prop("connected, with the right ends", [] {
    const Network network(draw_cluster());
    GpuId from, to;
    const std::vector<LinkId> route = draw_route(network, from, to);
    if (from == to)
      RC_ASSERT(route.empty());
    else
      check_path(network, route, from, to);
  });
}

TEST_CASE("all nodes are copies of the first") {
  rc::prop("same links, shifted", [] {
    const Network network(draw_cluster());
    const ClusterSpec& cluster = network.cluster();
    const int node = draw(0, cluster.nodes - 1);
    const int a = draw(0, cluster.node.gpus - 1);
    const int b = draw(0, cluster.node.gpus - 1);
    std::vector<LinkId> first, other;
    network.route_inside(GpuId(a), GpuId(b), first);
    network.route_inside(GpuId(node * cluster.node.gpus + a), GpuId(node * cluster.node.gpus + b),
                         other);
    RC_ASSERT(first.size() == other.size());
    for (std::size_t i = 0; i < first.size(); ++i) {
      const Link& x = network.links()[first[i].position()];
      const Link& y = network.links()[other[i].position()];
      RC_ASSERT(x.kind == y.kind && x.capacity == y.capacity && x.latency == y.latency);
      RC_ASSERT((other[i].index - first[i].index) == (other[0].index - first[0].index));
    }
  });
}

TEST_CASE("exchanging nodes under one leaf changes no route's kind") {
  rc::prop("same kinds and capacities", [] {
    ClusterSpec cluster = draw_cluster();
    cluster.fabric.kind = FabricKind::single_switch;
    cluster.nodes = draw(3, 6);
    const Network network(cluster);
    const int gpus = cluster.node.gpus;
    const int a = draw(0, gpus - 1), b = draw(0, gpus - 1);
    const auto lengths = [&](int from, int to) {
      std::vector<LinkId> route;
      network.route_across(GpuId(from * gpus + a), NicId(0), GpuId(to * gpus + b), NicId(0), 0,
                           route);
      std::vector<std::pair<LinkKind, double>> kinds;
      for (const LinkId id : route) {
        const Link& link = network.links()[id.position()];
        kinds.emplace_back(link.kind, link.capacity.value());
      }
      return kinds;
    };
    RC_ASSERT(lengths(0, 1) == lengths(2, 1));
    RC_ASSERT(lengths(0, 1) == lengths(1, 0));
  });
}

TEST_CASE("scaling a link changes that link only") {
  rc::prop("capacity", [] {
    Network network(draw_cluster());
    const std::vector<Link> before = network.links();
    const LinkId link(draw(0, static_cast<int>(before.size()) - 1));
    network.scale_capacity(link, 0.5);
    for (std::size_t i = 0; i < before.size(); ++i) {
      const double factor = LinkId(i) == link ? 0.5 : 1.0;
      RC_ASSERT(network.links()[i].capacity == before[i].capacity * factor);
    }
  });
}

TEST_CASE("every link is found by its name") {
  rc::prop("find_link(name_of(l)) == l", [] {
    const Network network(draw_cluster());
    const LinkId link(draw(0, static_cast<int>(network.links().size()) - 1));
    std::string name = network.name_of(link);
    RC_ASSERT(network.find_link(name) == link);
    name.replace(name.find("→"), std::string("→").size(), "->");
    RC_ASSERT(network.find_link(name) == link);
  });
}

TEST_CASE("traffic goes round failed links, or the failure is refused") {
  rc::prop("no route over a dead link", [] {
    Network network(draw_cluster());
    for (int failures = draw(1, 4); failures > 0; --failures) {
      const LinkId link(draw(0, static_cast<int>(network.links().size()) - 1));
      const Bandwidth before = network.links()[link.position()].capacity;
      try {
        network.scale_capacity(link, 0);
      } catch (const InputError&) {
        RC_ASSERT(network.links()[link.position()].capacity == before);
      }
    }
    GpuId from, to;
    const std::vector<LinkId> route = draw_route(network, from, to);
    if (from != to) check_path(network, route, from, to);
  });
}

TEST_CASE("bisection bandwidth of a leaf-spine fabric is its closed form") {
  rc::prop("half the nodes x NIC rates / oversubscription", [] {
    ClusterSpec cluster = draw_cluster();
    cluster.fabric = test::draw_fabric();
    cluster.fabric.kind = FabricKind::leaf_spine;
    cluster.fabric.nodes_per_leaf = draw(1, 4);
    const int leaves = 2 * draw(1, 3);
    cluster.nodes = cluster.fabric.nodes_per_leaf * leaves;
    cluster.fabric.oversubscription = draw(1, 4);
    cluster.fabric.hop_latency = microseconds(0.1);
    double nics = 0;
    for (const NicSpec& nic : cluster.node.nics) nics += 0.96 * nic.rate.value();
    const double expected = cluster.nodes / 2 * nics / cluster.fabric.oversubscription;
    const double found = bisection_bandwidth(Network(cluster)).value();
    RC_ASSERT(std::abs(found - expected) < 1e-6 * expected);
  });
}

TEST_CASE("distances count the switches on the way") {
  ClusterSpec cluster = load_cluster("a800-4hdr");
  cluster.fabric.kind = FabricKind::fat_tree;
  cluster.fabric.leaves_per_pod = 3;
  const std::vector<Distance> found = distances(Network(cluster));
  REQUIRE(found.size() == 4);
  CHECK(found[0].hops == 2);  // GPU, NVSwitch, GPU
  CHECK(found[1].what == "same leaf");
  CHECK(found[1].switches == 1);
  CHECK(found[2].switches == 3);
  CHECK(found[3].what == "across pods");
  CHECK(found[3].switches == 5);
  // Four PCIe hops, two NICs, one switch: 4 x 0.15 + 2 x 0.3 + 0.13 us.
  CHECK(found[1].latency.value() == Approx(1.33e-6));
}

TEST_CASE("bisection bandwidth inside a node") {
  const ClusterSpec cluster = resized(load_cluster("a800-4hdr"), 8);
  CHECK(bisection_bandwidth(Network(cluster)).value() == Approx(4 * 0.8 * 200e9));
  // DGX-1: 2 + 2 + 1 + 1 links of 25 GB/s join the two halves of the cube.
  const ClusterSpec cube = resized(load_cluster("dgx-1-v100"), 8);
  CHECK(bisection_bandwidth(Network(cube)).value() == Approx(6 * 0.8 * 25e9));
}

}  // namespace amsp
