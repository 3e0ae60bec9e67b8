// SPDX-License-Identifier: Apache-2.0
// Machines behind an NVSwitch that are not as they should be: degraded links, files that disagree,
// and matrices of several machines in one file.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>

#include "topologies/import/gpu_names.hpp"
#include "topologies/import/import.hpp"
#include "topologies/import/topo_matrix.hpp"
#include "topologies/network.hpp"

namespace amsp {
namespace {

using Cell = std::function<std::string(int, int)>;

std::string matrix(int gpus, const Cell& cell) {
  std::string text;
  for (int gpu = 0; gpu < gpus; ++gpu) text += fmt::format("\tGPU{}", gpu);
  text += "\tCPU Affinity\tNUMA Affinity\n";
  for (int row = 0; row < gpus; ++row) {
    text += fmt::format("GPU{}", row);
    for (int column = 0; column < gpus; ++column)
      text += "\t" + (row == column ? " X " : cell(row, column));
    text += row * 2 < gpus ? "\t0-23\t0\n" : "\t24-47\t1\n";
  }
  return text;
}

Cell all(const std::string& word) {
  return [word](int, int) { return word; };
}

// `word` in the row and the column of one GPU.
Cell all_but(int gpu, const std::string& usual, const std::string& word) {
  return [=](int row, int column) { return row == gpu || column == gpu ? word : usual; };
}

ClusterSpec cluster_of(const std::string& text) {
  return cluster_from(parse_topo_matrix(text, "m.txt"), {});
}

bool says(const std::vector<std::string>& notes, const std::string& part) {
  for (const std::string& note : notes)
    if (note.find(part) != std::string::npos) return true;
  return false;
}

// GPUs with so many NVLinks each to a switch (invented).
std::string tree(int gpus, int links) {
  std::string text = R"(<system version="1"><cpu numaid="0" arch="x86_64">)";
  for (int i = 0; i < gpus; ++i)
    text +=
        fmt::format(R"(<pci busid="0000:{:02x}:00.0" class="0x030200"><gpu dev="{}" sm="90">)"
                    R"(<nvlink target="0000:f0:00.0" count="{}" tclass="0x068000"/></gpu></pci>)",
                    16 + i, i, links);
  return text + "</cpu></system>";
}

}  // namespace

TEST_CASE("a degraded GPU behind an NVSwitch does not make a mesh, and has its own rate") {
  struct Case {
    std::string odd;
    double rate;
  };
  for (const Case& c : {Case{"NV11", 275e9}, Case{"NV3", 75e9}, Case{"SYS", 0}, Case{"NODE", 0}}) {
    const ClusterSpec cluster = cluster_of(matrix(8, all_but(3, "NV12", c.odd)));
    CAPTURE(c.odd);
    CHECK(cluster.node.intra.kind == IntraNodeKind::nvswitch);
    CHECK(cluster.node.intra.gpu_rate.value() == Approx(300e9));
    CHECK(cluster.node.gpu.name.find("A100") != std::string::npos);
    REQUIRE(cluster.node.intra.slower_gpus.size() == 1);
    CHECK(cluster.node.intra.slower_gpus.at(3).value() == Approx(c.rate));
    CHECK(says(cluster.assumptions, "GPU3 shows "));
    CHECK_FALSE(says(cluster.assumptions, "GPU2 shows "));
    CHECK_FALSE(says(cluster.assumptions, "says otherwise"));
    // What is written is what is read.
    CHECK(parse_cluster(JsonValue::parse_text(to_json(cluster), "c")).node == cluster.node);
  }
}

TEST_CASE("one pair that contradicts both of its GPUs is named and not used") {
  for (const std::string odd : {"NV17", "NV3", "SYS", "NV20"}) {
    const auto pair = [&](int row, int column) {
      return std::min(row, column) == 3 && std::max(row, column) == 4 ? odd : std::string("NV18");
    };
    const ClusterSpec cluster = cluster_of(matrix(8, pair));
    CAPTURE(odd);
    CHECK(cluster.node.intra.kind == IntraNodeKind::nvswitch);
    CHECK(cluster.node.intra.gpu_rate.value() == Approx(450e9));
    CHECK(cluster.node.intra.slower_gpus.empty());
    CHECK(says(cluster.assumptions, "GPU3-GPU4 shows "));
  }
  // In one direction only: the first row counts, and both readings are shown.
  const auto half = [](int row, int column) {
    return std::string(row == 4 && column == 3 ? "NV11" : "NV12");
  };
  CHECK(says(cluster_of(matrix(8, half)).assumptions,
             "GPU3 to GPU4 is NV12 and back NV11; the upper row is taken"));
}

TEST_CASE("several degraded GPUs: a pair shows the smaller of both") {
  const int links[] = {12, 12, 12, 11, 12, 10, 11, 11};
  const auto smaller = [&](int row, int column) {
    return fmt::format("NV{}", std::min(links[row], links[column]));
  };
  const ClusterSpec cluster = cluster_of(matrix(8, smaller));
  CHECK(cluster.node.intra.gpu_rate.value() == Approx(300e9));
  REQUIRE(cluster.node.intra.slower_gpus.size() == 4);
  for (const auto& [slot, rate] : cluster.node.intra.slower_gpus)
    CHECK(rate.value() == Approx(links[slot] * 25e9));
  CHECK_FALSE(says(cluster.assumptions, "says otherwise"));
}

TEST_CASE("a slower GPU slows the network and the collectives that it takes part in") {
  const ClusterSpec sound = cluster_of(matrix(8, all("NV12")));
  const ClusterSpec slow = cluster_of(matrix(8, all_but(3, "NV12", "NV6")));
  const ClusterSpec off = cluster_of(matrix(8, all_but(3, "NV12", "SYS")));
  const auto narrowest = [](const ClusterSpec& cluster, int from, int to) {
    const Network network(cluster);
    double least = 1e300;
    std::vector<LinkId> route;
    network.route_inside(GpuId(from), GpuId(to), route);
    for (const LinkId link : route)
      least = std::min(least, network.links()[link.position()].capacity.value());
    return least;
  };
  CHECK(narrowest(sound, 2, 3) == Approx(240e9));  // 0.8 of 300 GB/s
  CHECK(narrowest(slow, 2, 3) == Approx(120e9));
  CHECK(narrowest(slow, 2, 4) == Approx(240e9));
  CHECK(narrowest(off, 2, 3) < 32e9);
  CHECK(narrowest(off, 2, 4) == Approx(240e9));
}

TEST_CASE("one worse pair of a full mesh is named and taken as shown") {
  const auto pair = [](int row, int column) {
    return std::string(row + column == 1 ? "NV3" : "NV4");
  };
  const ClusterSpec cluster = cluster_of(matrix(4, pair));
  CHECK(cluster.node.intra.kind == IntraNodeKind::nvlink_mesh);
  CHECK(cluster.node.intra.mesh_links.at({0, 1}) == 3);
  CHECK(cluster.node.intra.mesh_links.at({0, 2}) == 4);
  CHECK(says(cluster.assumptions, "GPU0-GPU1 has NV3 where all other pairs have NV4"));
  CHECK_FALSE(says(cluster_of(matrix(4, all("NV4"))).assumptions, "where all other pairs"));
}

TEST_CASE("what direct links can be stays a mesh") {
  CHECK(cluster_of(matrix(4, all("NV4"))).node.intra.kind == IntraNodeKind::nvlink_mesh);
  CHECK(cluster_of(matrix(4, all("NV6"))).node.intra.kind == IntraNodeKind::nvlink_mesh);
  CHECK(cluster_of(matrix(2, all("NV12"))).node.intra.kind == IntraNodeKind::nvlink_mesh);
  // Six links to each of three GPUs are too many for the type that the report names.
  const std::string named = "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-0)\n" + matrix(4, all("NV6"));
  CHECK(cluster_of(named).node.intra.kind == IntraNodeKind::nvswitch);
}

TEST_CASE("of several machines in one file the first is taken") {
  const std::string small = matrix(4, all("NV4")), large = matrix(8, all("NV12"));
  const MachineFacts first = parse_topo_matrix("node1\n" + small + "node2\n" + large, "m.txt");
  CHECK(first.gpus.size() == 4);
  CHECK(nvlinks_per_gpu(first) == 12);
  CHECK_FALSE(through_switch(first));
  CHECK(says(first.notes, "2 matrices in the file; the first is taken"));
  CHECK(parse_topo_matrix(large + small, "m.txt").gpus.size() == 8);
  // The same header again goes on with a matrix that a pager parted, and that is said.
  const std::string header = large.substr(0, large.find('\n') + 1);
  const std::size_t middle = large.find("GPU4\tNV");
  const MachineFacts parted =
      parse_topo_matrix(large.substr(0, middle) + header + large.substr(middle), "m.txt");
  CHECK(parted.gpus.size() == 8);
  CHECK(parted.gpus[7].numa == "1");
  CHECK(says(parted.notes, "lacks the rows of GPU4 GPU5 GPU6 GPU7"));
}

TEST_CASE("a cut matrix does not invent a socket for every device that it cuts") {
  // Two GPUs and four NICs; the rows of the second GPU's side and of the NICs are missing.
  const std::string text =
      "\tGPU0\tGPU1\tGPU2\tNIC0\tNIC1\tNIC2\tNIC3\tCPU Affinity\tNUMA Affinity\n"
      "GPU0\t X \tNV18\tNV18\tPIX\tNODE\tSYS\tSYS\t0-55\t0\n"
      "GPU1\tNV18\t X \tNV18\tNODE\tPIX\tSYS\tSYS\t0-55\t0\n";
  const ClusterSpec cluster = cluster_of(text);
  REQUIRE(cluster.node.nics.size() == 4);
  CHECK(cluster.node.nics[0].socket == 0);
  CHECK(cluster.node.nics[1].socket == 0);
  CHECK(cluster.node.nics[2].socket == 1);
  CHECK(cluster.node.nics[3].socket == 1);
  CHECK(says(cluster.assumptions, "the sockets of NIC2, NIC3 are not known"));
  CHECK(says(cluster.assumptions, "the socket of GPU2 is not known; taken to be that of GPU1"));
  // Nor does a whole one: NICs that are SYS from every GPU are on the sockets of the GPUs.
  const ClusterSpec whole = cluster_of(
      "\tGPU0\tGPU1\tNIC0\tNIC1\nGPU0\t X \tSYS\tSYS\tSYS\nGPU1\tSYS\t X \tSYS\tSYS\n"
      "NIC0\tSYS\tSYS\t X \tSYS\nNIC1\tSYS\tSYS\tSYS\t X \n");
  CHECK(whole.node.sockets() == 2);
  CHECK(whole.node.nics[0].socket == 0);
  CHECK(whole.node.nics[1].socket == 1);
  CHECK(says(whole.assumptions, "NIC0, NIC1: SYS from every GPU"));
  CHECK_FALSE(says(whole.assumptions, "not known, only"));
}

TEST_CASE("what nvidia-smi -L says above a matrix: MIG instances, an unknown GPU") {
  const std::string list =
      "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-0)\n"
      "  MIG 3g.40gb     Device  0: (UUID: MIG-1)\n  MIG 3g.40gb     Device  1: (UUID: MIG-2)\n";
  const MachineFacts facts = parse_topo_matrix(list + matrix(4, all("NV4")), "m.txt");
  CHECK(says(facts.notes, "the file lists 2 MIG instances; the matrix is of whole GPUs"));
  CHECK_FALSE(says(parse_topo_matrix(matrix(4, all("NV4")), "m.txt").notes, "MIG"));
  std::string many;
  for (int i = 0; i < 5000; ++i) many += fmt::format("GPU 0: NVIDIA Nonesuch {} (UUID)\n", i);
  const MachineFacts unknown = parse_topo_matrix(many + matrix(4, all("NV4")), "m.txt");
  CHECK(says(unknown.notes, "the file names the GPU \"NVIDIA Nonesuch 0\", which is no type"));
  CHECK(unknown.notes.size() < 20);
}

TEST_CASE("a matrix and a tree that count other links to the switch are reported") {
  Imported imported;
  read_topology_text(tree(8, 18), "x.xml", imported);
  read_topology_text(matrix(8, all("NV12")), "m.txt", imported);
  CHECK(says(imported.machine->notes,
             "x.xml and m.txt disagree on the NVLinks to the NVSwitch of "
             "GPU0 GPU1 GPU2 GPU3 GPU4 GPU5 GPU6 GPU7: 18 and 12"));
  CHECK(nvlinks_per_gpu(*imported.machine) == 18);
  Imported agreed;
  read_topology_text(matrix(8, all("NV18")), "m.txt", agreed);
  read_topology_text(tree(8, 18), "x.xml", agreed);
  CHECK_FALSE(says(agreed.machine->notes, "disagree"));
}

}  // namespace amsp
