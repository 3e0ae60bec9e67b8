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
  // Far apart in a rack: two hops through the switch; a NIC of another tray is reached over NVLink.
  const Network network(racks);
  std::vector<LinkId> route;
  network.route_inside(GpuId(0), GpuId(71), route);
  CHECK(route.size() == 2);
  route.clear();
  network.route_across(GpuId(0), NicId(71), GpuId(72), NicId(71), 0, route);
  CHECK(route.size() > 4);
}

TEST_CASE("what a domain cannot be is refused") {
  CHECK_THROWS_WITH(imported(kTray, machines(20, 18)), Catch::Contains("20 machines (--nodes)"));
  CHECK_THROWS_WITH(imported(kTray, machines(160, 160)), Catch::Contains("576 GPUs"));
  CHECK_THROWS_WITH(imported(kMesh, machines(2, 2)), Catch::Contains("NVSwitch"));
}
