// SPDX-License-Identifier: Apache-2.0
// Trays of a rack: alone, and joined by their NVSwitch.
#include <algorithm>
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "topologies/import/import.hpp"
#include "topologies/network.hpp"

using namespace amsp;

namespace {

// Four GPUs on two Grace CPUs, two NICs on each (invented).
const char* const kTray =
    "\tGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tNIC1\tNIC2\tNIC3\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
    "GPU0\t X \tNV18\tNV18\tNV18\tNODE\tNODE\tSYS\tSYS\t0-71\t0\t2\n"
    "GPU1\tNV18\t X \tNV18\tNV18\tNODE\tNODE\tSYS\tSYS\t0-71\t0\t10\n"
    "GPU2\tNV18\tNV18\t X \tNV18\tSYS\tSYS\tNODE\tNODE\t72-143\t1\t18\n"
    "GPU3\tNV18\tNV18\tNV18\t X \tSYS\tSYS\tNODE\tNODE\t72-143\t1\t26\n"
    "NIC0\tNODE\tNODE\tSYS\tSYS\t X \tNODE\tSYS\tSYS\n"
    "NIC1\tNODE\tNODE\tSYS\tSYS\tNODE\t X \tSYS\tSYS\n"
    "NIC2\tSYS\tSYS\tNODE\tNODE\tSYS\tSYS\t X \tNODE\n"
    "NIC3\tSYS\tSYS\tNODE\tNODE\tSYS\tSYS\tNODE\t X \n";

const char* const kMesh = "\tGPU0\tGPU1\nGPU0\t X \tNV4\nGPU1\tNV4\t X \n";

ClusterSpec imported(const std::string& text, const ImportOptions& options) {
  Imported all;
  read_topology_text(text, "m.txt", all);
  return cluster_from(*all.machine, options);
}

ImportOptions machines(int nodes, std::optional<int> domain, const std::string& gpu = "") {
  ImportOptions options;
  options.nodes = nodes;
  options.gpu = gpu;
  options.nvlink_domain = domain;
  return options;
}

bool says(const ClusterSpec& cluster, const std::string& part) {
  return std::any_of(cluster.assumptions.begin(), cluster.assumptions.end(),
                     [&](const std::string& line) { return line.find(part) != std::string::npos; });
}

using Names = std::vector<std::string>;
Names names(const Network& network, const std::vector<LinkId>& route) {
  Names all;
  for (const LinkId link : route) all.push_back(network.name_of(link));
  return all;
}

}  // namespace

TEST_CASE("a tray of a rack is said to be one, with the way to the rack") {
  const ClusterSpec islands = imported(kTray, machines(18, std::nullopt));
  CHECK(islands.nodes == 18);
  CHECK(says(islands, "18 of them joined by their NICs alone"));
  CHECK(says(islands, "--nvlink-domain 18 makes one node of 72 GPUs"));
  CHECK(says(islands, "gb200-nvl72"));
  CHECK(says(imported(kTray, machines(1, std::nullopt)), "a tray of an NVL72 rack by itself:"));
  CHECK_FALSE(says(imported(kTray, machines(18, 1)), "a tray"));
  const std::string plain =
      "\tGPU0\tGPU1\tGPU2\nGPU0\t X \tNV18\tNV18\nGPU1\tNV18\t X \tNV18\n"
      "GPU2\tNV18\tNV18\t X \n";
  CHECK_FALSE(says(imported(plain, machines(1, std::nullopt, "b200-sxm-180gb")), "a tray"));
}

TEST_CASE("trays of one NVLink domain are one node, as in the shipped rack") {
  const ClusterSpec racks = imported(kTray, machines(36, 18));
  const ClusterSpec shipped = load_cluster("gb200-nvl72");
  CHECK(racks.nodes == 2);
  CHECK(racks.node.gpus == shipped.node.gpus);
  CHECK(racks.node.gpu_socket == shipped.node.gpu_socket);
  CHECK(racks.node.intra == shipped.node.intra);
  CHECK(racks.node.socket_rate == shipped.node.socket_rate);
  CHECK(racks.node.nics.size() == 72);
  CHECK(says(racks, "18 machines share one NVSwitch"));
  CHECK_FALSE(says(racks, "by itself"));
  for (const std::size_t i : {0, 1, 2, 3, 70, 71}) {
    CHECK(racks.node.nics[i].socket == shipped.node.nics[i].socket);
    CHECK(racks.node.nics[i].rate == shipped.node.nics[i].rate);
  }
  CHECK(racks.node.nics.back().name.starts_with("tray17-"));
  // Far apart in a rack: two hops through the switch; a NIC of another tray is reached over NVLink
  // and the first GPU of that NIC's CPU.
  const Network network(racks);
  std::vector<LinkId> route;
  network.route_inside(GpuId(0), GpuId(71), route);
  CHECK(names(network, route) == Names{"node0/gpu0→nvswitch", "node0/nvswitch→gpu71"});
  route.clear();
  network.route_across(GpuId(0), NicId(71), GpuId(72), NicId(71), 0, route);
  CHECK(names(network, route) ==
        Names{"node0/gpu0→nvswitch", "node0/nvswitch→gpu70", "node0/gpu70→cpu35",
              "node0/cpu35→nic71", "node0/nic71→leaf0", "leaf0→node1/nic71", "node1/nic71→cpu35",
              "node1/cpu35→gpu70", "node1/gpu70→nvswitch", "node1/nvswitch→gpu0"});
}

TEST_CASE("NICs behind a switch of a CPU without GPUs move to the CPU of the first GPU") {
  // NIC0 and NIC1 on one switch, SYS from all GPUs: on the other CPU.
  const std::string pair =
      "\tGPU0\tGPU1\tGPU2\tNIC0\tNIC1\tNIC2\n"
      "GPU0\t X \tNV18\tNV18\tSYS\tSYS\tNODE\n"
      "GPU1\tNV18\t X \tNV18\tSYS\tSYS\tNODE\n"
      "GPU2\tNV18\tNV18\t X \tSYS\tSYS\tNODE\n"
      "NIC0\tSYS\tSYS\tSYS\t X \tPIX\tSYS\n"
      "NIC1\tSYS\tSYS\tSYS\tPIX\t X \tSYS\n"
      "NIC2\tNODE\tNODE\tNODE\tSYS\tSYS\t X \n";
  const ClusterSpec racks = imported(pair, machines(4, 2, "b200-sxm-180gb"));
  CHECK(says(racks, "put on that of GPU 0: NIC0 NIC1"));
  REQUIRE(racks.node.nics.size() == 6);
  for (const std::size_t i : {0, 1, 3, 4}) {
    const NicSpec& nic = racks.node.nics[i];
    const int first_of_tray = i < 3 ? 0 : 3;
    REQUIRE(nic.pcie_switch >= 0);
    const auto on = static_cast<std::size_t>(nic.pcie_switch);
    CHECK(racks.node.switch_socket[on] == racks.node.socket_of_slot(first_of_tray));
    CHECK(nic.socket == racks.node.socket_of_slot(first_of_tray));
  }
  const Network network(racks);
  std::vector<LinkId> route;
  network.route_across(GpuId(0), NicId(0), GpuId(6), NicId(0), 0, route);
  CHECK(names(network, route) == Names{"node0/gpu0→cpu0", "node0/cpu0→pcie0", "node0/pcie0→nic0",
                                       "node0/nic0→leaf0", "leaf0→node1/nic0", "node1/nic0→pcie0",
                                       "node1/pcie0→cpu0", "node1/cpu0→gpu0"});
}

TEST_CASE("what a domain cannot be is refused") {
  CHECK_THROWS_WITH(imported(kTray, machines(20, 18)), Catch::Contains("20 machines (--nodes)"));
  CHECK_THROWS_WITH(imported(kTray, machines(1, 18)),
                    Catch::Contains("1 machine (--nodes) cannot be parted into domains of 18"));
  const std::string bare =
      "\tGPU0\tGPU1\tGPU2\nGPU0\t X \tNV18\tNV18\n"
      "GPU1\tNV18\t X \tNV18\nGPU2\tNV18\tNV18\t X \n";
  CHECK_THROWS_WITH(imported(bare, machines(36, 18, "b200-sxm-180gb")),
                    Catch::Contains("shows no NIC, which 2 nodes of 18 machines need"));
  CHECK_THROWS_WITH(imported(bare, machines(2, std::nullopt, "b200-sxm-180gb")),
                    Catch::Contains("shows no NIC, which 2 nodes need"));
  CHECK_THROWS_WITH(imported(kTray, machines(160, 160)), Catch::Contains("576 GPUs"));
  CHECK_THROWS_WITH(imported(kMesh, machines(2, 2)), Catch::Contains("NVSwitch"));
}

TEST_CASE("slower GPUs of a tray are those of each machine, not of each rack") {
  std::string text = kTray;
  // GPU3, whose cells stand before those of the NICs and in its own row, has half of its links.
  for (const std::string cell : {"NV18\tNODE", "NV18\tSYS", "GPU3\tNV18", "NV9\tNV18", "NV9\tNV18"})
    for (std::size_t at = 0; (at = text.find(cell, at)) != std::string::npos;)
      text.replace(text.find("NV18", at), 4, "NV9");
  const ClusterSpec racks = imported(text, machines(36, 18));
  CHECK(racks.nodes == 2);
  CHECK(racks.node.intra.slower_gpus.size() == 18);
  CHECK(says(racks, "all 36 machines are taken to have the slower GPUs of this one"));
}
