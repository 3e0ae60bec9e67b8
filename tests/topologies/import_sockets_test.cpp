// SPDX-License-Identifier: Apache-2.0
// On which sockets NICs are put that a matrix shows far from every GPU, and what joins the sockets.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "topologies/import/import.hpp"
#include "topologies/network.hpp"

namespace amsp {
namespace {

// Four GPUs, two on each CPU (NUMA affinities `numa`), and NICs that are SYS from all but
// themselves; NIC2 and NIC3 share a switch.
std::string matrix(int nics, const std::vector<std::string>& numa, bool gpu_numa) {
  const int gpus = static_cast<int>(numa.size());
  std::string text;
  for (int i = 0; i < gpus; ++i) text += fmt::format("\tGPU{}", i);
  for (int i = 0; i < nics; ++i) text += fmt::format("\tNIC{}", i);
  text += "\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n";
  for (int i = 0; i < gpus + nics; ++i) {
    text += i < gpus ? fmt::format("GPU{}", i) : fmt::format("NIC{}", i - gpus);
    for (int j = 0; j < gpus + nics; ++j) {
      const bool pair = i != j && std::min(i, j) == gpus + 2 && std::max(i, j) == gpus + 3;
      text += i == j ? "\t X " : i < gpus && j < gpus ? "\tNV18" : pair ? "\tPIX" : "\tSYS";
    }
    if (i < gpus)
      text += fmt::format("\t{}\t{}\t{}", numa[static_cast<std::size_t>(i)] == "0" ? "0-3" : "4-7",
                          numa[static_cast<std::size_t>(i)],
                          gpu_numa ? std::to_string(2 + 8 * i) : "N/A");
    text += "\n";
  }
  return text;
}

MachineFacts facts_of(const std::string& text) {
  Imported imported;
  read_topology_text(text, "m.txt", imported);
  return *imported.machine;
}

bool says(const ClusterSpec& cluster, const std::string& part) {
  return std::any_of(cluster.assumptions.begin(), cluster.assumptions.end(),
                     [&](const std::string& line) { return line.find(part) != std::string::npos; });
}

std::vector<int> sockets_of_nics(const ClusterSpec& cluster) {
  std::vector<int> sockets;
  for (const NicSpec& nic : cluster.node.nics) sockets.push_back(nic.socket);
  return sockets;
}

const std::vector<std::string> kGrace = {"0,3-9", "0,3-9", "1,19-25", "1,19-25"};

}  // namespace

TEST_CASE("NICs far from every GPU of a Grace host are on its two CPUs") {
  const ClusterSpec cluster = cluster_from(facts_of(matrix(8, kGrace, true)), {});
  CHECK(cluster.node.gpu.name == "NVIDIA GB200");
  CHECK(cluster.node.sockets() == 2);
  CHECK(sockets_of_nics(cluster) == std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1});
  CHECK(says(cluster, "NIC0, NIC1, NIC2, NIC3, NIC4, NIC5, NIC6, NIC7: SYS from every GPU"));
  CHECK(says(cluster, "the CPU is NVIDIA Grace, as NVIDIA GB200 implies"));
  CHECK_FALSE(says(cluster, "Skylake"));
  CHECK_FALSE(says(cluster, "SYS apart"));
  // Four NICs of 400 Gb/s on a socket.
  CHECK(cluster.node.socket_rate == gigabytes_per_second(200));
}

TEST_CASE("a NIC is on the socket of its NUMA node where another file shows that") {
  MachineFacts facts = facts_of(matrix(5, kGrace, true));
  facts.nics[0].numa = "21";
  facts.nics[2].numa = "1";
  facts.nics[4].numa = "7";
  const ClusterSpec cluster = cluster_from(facts, {});
  CHECK(cluster.node.sockets() == 2);
  CHECK(sockets_of_nics(cluster) == std::vector<int>{1, 0, 1, 1, 0});
  CHECK(says(cluster, "NIC1: SYS from every GPU"));
}

TEST_CASE("beside GPUs on one socket, far NICs are on one other; NUMA nodes shown stay") {
  const std::vector<std::string> one(4, "0");
  const ClusterSpec cluster = cluster_from(facts_of(matrix(5, one, false)), {});
  CHECK(cluster.node.sockets() == 2);
  CHECK(sockets_of_nics(cluster) == std::vector<int>(5, 1));
  CHECK(says(cluster, "taken to be on one other socket"));
  // A single one is where the file says: no assumption.
  const ClusterSpec single = cluster_from(facts_of(matrix(1, one, false)), {});
  CHECK(sockets_of_nics(single) == std::vector<int>{1});
  CHECK_FALSE(says(single, "SYS from every GPU"));
  MachineFacts shown = facts_of(matrix(2, one, false));
  shown.nics[0].numa = "2";
  shown.nics[1].numa = "3";
  CHECK(sockets_of_nics(cluster_from(shown, {})) == std::vector<int>{1, 2});
}

}  // namespace amsp
