// SPDX-License-Identifier: Apache-2.0
// Routes and capacities against hand-counted figures.
#include "topologies/network.hpp"

#include <catch2/catch.hpp>
#include <numeric>

namespace amsp {
namespace {

std::vector<std::string> names(const Network& network, const std::vector<LinkId>& route) {
  std::vector<std::string> text;
  for (const LinkId link : route) text.push_back(network.name_of(link));
  return text;
}

}  // namespace

TEST_CASE("the paper's cluster has the capacities of its data sheets") {
  const ClusterSpec cluster = load_cluster("a800-4hdr");
  CHECK(cluster.gpus() == 1024);
  CHECK(cluster.node.intra.gpu_rate == gigabytes_per_second(200));
  const Network network(cluster);
  std::vector<LinkId> route;
  network.route_inside(GpuId(8), GpuId(15), route);
  CHECK(names(network, route) ==
        std::vector<std::string>{"node1/gpu0→nvswitch", "node1/nvswitch→gpu7"});
  CHECK(network.links()[route[0].position()].capacity.value() == Approx(0.8 * 200e9));
  route.clear();
  network.route_across(GpuId(1), NicId(0), GpuId(8 * 5 + 7), NicId(3), 0, route);
  CHECK(names(network, route) == std::vector<std::string>{"node0/gpu1→pcie0", "node0/pcie0→nic0",
                                                          "node0/nic0→leaf0", "leaf0→spine0",
                                                          "spine0→leaf1", "leaf1→node5/nic3",
                                                          "node5/nic3→pcie3", "node5/pcie3→gpu7"});
  CHECK(network.links()[route[2].position()].capacity.value() == Approx(0.96 * 25e9));
  CHECK(network.links()[route[3].position()].capacity.value() == Approx(5 * 4 * 0.96 * 25e9));
}

TEST_CASE("NICs follow affinity") {
  const Network network(load_cluster("a800-4hdr"));
  const std::vector<int> third{5};
  CHECK(network.nics_of(third) == std::vector<NicId>{NicId(2)});
  std::vector<int> all(8);
  std::iota(all.begin(), all.end(), 0);
  CHECK(network.nics_of(all) == std::vector<NicId>{NicId(0), NicId(1), NicId(2), NicId(3)});
}

TEST_CASE("131072 GPUs are built with links of their own") {
  const ClusterSpec cluster = resized(load_cluster("dgx-a100"), 131072);
  const Network network(cluster);
  CHECK(network.links().size() > 131072 * 5u);
}

}  // namespace amsp
