// SPDX-License-Identifier: Apache-2.0
// Where the channels of a ring enter a node whose file names no GPU as nearest to a NIC.
#include <catch2/catch.hpp>
#include <numeric>
#include <set>

#include "calibrate/group_layout.hpp"
#include "topologies/cluster.hpp"
#include "topologies/network.hpp"

using namespace amsp;

namespace {

std::vector<GpuId> entries(const ClusterSpec& cluster) {
  const Network network(cluster);
  std::vector<GpuId> group;
  for (int gpu = 0; gpu < 2 * cluster.node.gpus; ++gpu) group.emplace_back(gpu);
  const GroupLayout layout(group, network);
  std::vector<GpuId> first;
  for (int channel = 0; channel < layout.channels; ++channel)
    first.push_back(layout.chain(0, channel, network).front());
  return first;
}

}  // namespace

TEST_CASE("NICs without named GPUs are entered by the GPUs of their switch, in turns") {
  ClusterSpec cluster = load_cluster("dgx-h100");
  const std::vector<GpuId> named = entries(cluster);
  for (NicSpec& nic : cluster.node.nics) nic.gpus.clear();
  const std::vector<GpuId> found = entries(cluster);
  CHECK(std::set<GpuId>(found.begin(), found.end()).size() == 8);
  for (std::size_t nic = 0; nic < found.size(); ++nic) {
    INFO(nic);
    CHECK(named[nic] == GpuId(nic));
    CHECK(cluster.node.switch_of_slot(cluster.slot_of(found[nic])) ==
          cluster.node.nics[nic].pcie_switch);
  }
}

TEST_CASE("NICs on a socket are entered by its GPUs, no two of them by the same") {
  for (const char* name : {"l40s-8gpu-pcie", "rtx4090-8gpu-pcie"}) {
    const ClusterSpec cluster = load_cluster(name);
    const std::vector<GpuId> found = entries(cluster);
    CHECK(std::set<GpuId>(found.begin(), found.end()).size() == found.size());
    for (std::size_t nic = 0; nic < found.size(); ++nic) {
      INFO(name << " " << nic);
      CHECK(cluster.node.socket_of_slot(cluster.slot_of(found[nic])) ==
            cluster.node.nics[nic].socket);
    }
  }
}
