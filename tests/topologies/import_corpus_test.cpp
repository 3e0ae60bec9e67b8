// SPDX-License-Identifier: Apache-2.0
// Real topology files, from the folder named by AMSP_CORPUS: what each must be read as, typed from
// the corpus's index (figures of the files themselves).
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <numeric>

#include "base/file.hpp"
#include "topologies/import/gpu_names.hpp"
#include "topologies/import/import.hpp"
#include "topologies/network.hpp"

namespace amsp {
namespace {

namespace fs = std::filesystem;

std::optional<fs::path> corpus() {
  const char* folder = std::getenv("AMSP_CORPUS");
  if (folder && fs::is_directory(folder)) return fs::path(folder);
  std::cout << "skipped: AMSP_CORPUS does not name the folder of the corpus\n";
  return std::nullopt;
}

// The file whose name starts so ("topo-001").
fs::path file_of(const fs::path& folder, std::string_view stem) {
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().filename().string().starts_with(std::string(stem) + "-")) return entry.path();
  FAIL("no file " << stem);
  return {};
}

MachineFacts machine(const fs::path& folder, std::string_view stem) {
  const Imported imported = read_topology_files({file_of(folder, stem)});
  REQUIRE(imported.machine);
  return *imported.machine;
}

std::string cell(const MachineFacts& facts, int a, int b) {
  const Relation& relation =
      facts.gpu_gpu[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
  if (relation.nvlinks > 0) return "NV" + std::to_string(relation.nvlinks);
  return std::string(name_of(relation.path));
}

// "PIX" of the NIC with this device name.
std::string nic_cell(const MachineFacts& facts, int gpu, std::string_view device) {
  for (std::size_t i = 0; i < facts.nics.size(); ++i)
    if (facts.nics[i].device == device || facts.nics[i].label == device)
      return std::string(name_of(facts.gpu_nic[static_cast<std::size_t>(gpu)][i]));
  return "no such NIC";
}

struct Expected {
  std::string stem;
  std::size_t gpus;
  std::size_t nics;
  int links_per_gpu;  // NVLink or XGMI of one GPU; -1: the file does not say
  bool switched;
  std::string gpu;  // type that is taken
};

const std::vector<Expected>& expectations() {
  static const std::vector<Expected> all{
      {"topo-001", 8, 8, 18, true, "h100-sxm5-80gb"},
      {"topo-002", 8, 4, 12, true, "a100-sxm4-80gb"},
      {"topo-003", 8, 8, 8, true, "a800-sxm4-80gb"},
      {"topo-005", 8, 1, 6, false, "v100-sxm2-32gb"},
      {"topo-006", 4, 4, 4, false, "v100-sxm2-32gb"},
      {"topo-007", 4, 1, 0, false, "k80"},
      {"topo-009", 4, 4, 12, false, "a100-sxm4-80gb"},
      {"topo-010", 4, 8, 18, true, "gb200-186gb"},
      {"topo-013", 8, 12, 12, true, "a100-sxm4-80gb"},
      {"topo-014", 2, 0, 0, false, "l40s"},
      {"topo-015", 2, 0, 0, false, "l40s"},
      {"topo-016", 2, 0, 0, false, "l40s"},
      {"topo-017", 3, 0, 4, false, "rtx-a6000"},
      {"topo-021", 8, 1, 18, true, "h100-sxm5-80gb"},
      {"topo-022", 8, 0, 12, true, "a100-sxm4-80gb"},
      {"topo-023", 8, 0, 18, true, "h100-sxm5-80gb"},
      {"topo-024", 2, 0, 2, false, "quadro-rtx-6000"},
      {"topo-026", 8, 9, 6, false, "v100-sxm2-32gb"},
      {"topo-028", 8, 9, 18, true, "h100-sxm5-80gb"},
      {"xml-001", 8, 1, 0, false, "mi60-32gb"},
      {"xml-002", 8, 1, 3, false, "mi250-gcd"},
      {"xml-003", 8, 8, 7, false, "mi300x-192gb"},
      {"xml-004", 8, 4, 3, false, "mi100-32gb"},
      {"xml-005", 8, 1, -1, false, "a100-sxm4-80gb"},
      {"xml-006", 8, 8, -1, false, "a100-sxm4-80gb"},
      {"xml-008", 4, 1, 12, false, "a100-pcie-80gb"},
      {"xml-010", 2, 1, 12, false, "a100-pcie-80gb"},
      {"xml-012", 8, 16, 18, true, "h100-sxm5-80gb"},
      {"xml-013", 8, 8, -1, false, "a100-sxm4-80gb"},
      {"xml-015", 8, 4, -1, false, "a100-sxm4-40gb"},
      {"xml-018", 8, 4, 3, false, "mi100-32gb"},
      {"xml-021", 8, 8, 18, true, "h100-sxm5-80gb"},
      {"xml-024", 2, 0, 36, true, "b300-sxm-288gb"},
  };
  return all;
}

}  // namespace

TEST_CASE("corpus: every topology file is read as its index says") {
  const auto folder = corpus();
  if (!folder) return;
  for (const Expected& expected : expectations()) {
    INFO(expected.stem);
    const MachineFacts facts = machine(*folder, expected.stem);
    CHECK(facts.gpus.size() == expected.gpus);
    CHECK(facts.nics.size() == expected.nics);
    CHECK(nvlinks_per_gpu(facts) == expected.links_per_gpu);
    CHECK(through_switch(facts) == expected.switched);
    CHECK(guess_gpu_type(facts).type == expected.gpu);
  }
}

TEST_CASE("corpus: every topology file becomes a cluster with routes") {
  const auto folder = corpus();
  if (!folder) return;
  for (const Expected& expected : expectations()) {
    INFO(expected.stem);
    ImportOptions options;
    options.nodes = 2;
    options.nics = 1;
    const ClusterSpec cluster = cluster_from(machine(*folder, expected.stem), options);
    CHECK(cluster.node.gpus == static_cast<int>(expected.gpus));
    CHECK_FALSE(cluster.assumptions.empty());
    CHECK(parse_cluster(JsonValue::parse_text(to_json(cluster), "printed")) == cluster);
    const Network network(cluster);
    std::vector<LinkId> route;
    network.route_across(GpuId(0), NicId(0), GpuId(cluster.gpus() - 1), NicId(0), 0, route);
    CHECK(route.size() >= 4);
  }
}

TEST_CASE("corpus: cells, affinities and names of the matrices") {
  const auto folder = corpus();
  if (!folder) return;
  const MachineFacts h200 = machine(*folder, "topo-001");
  const int nic_of_gpu[] = {4, 1, 0, 3, 6, 7, 5, 2};
  for (int gpu = 0; gpu < 8; ++gpu)
    CHECK(nic_cell(h200, gpu, "mlx5_" + std::to_string(nic_of_gpu[gpu])) == "PIX");
  CHECK(cell(h200, 0, 7) == "NV18");
  CHECK(h200.gpus[4].numa == "1");
  CHECK(h200.gpus[4].cpus == "64-127,192-255");

  const MachineFacts half = machine(*folder, "topo-002");
  CHECK(nic_cell(half, 0, "mlx5_0") == "PXB");
  CHECK(nic_cell(half, 0, "mlx5_1") == "PXB");
  for (int gpu = 4; gpu < 8; ++gpu) CHECK(nic_cell(half, gpu, "NIC3") == "SYS");
  CHECK(half.nic_nic[2][3] == PathKind::pix);
  CHECK(half.nic_nic[0][1] == PathKind::pxb);

  const MachineFacts bonds = machine(*folder, "topo-003");
  CHECK(bonds.nics[6].device == "mlx5_bond_6");
  CHECK(nic_cell(bonds, 0, "mlx5_bond_1") == "PIX");
  CHECK(nic_cell(bonds, 7, "mlx5_bond_7") == "PIX");

  const MachineFacts cube = machine(*folder, "topo-005");
  CHECK(cell(cube, 0, 3) == "NV2");
  CHECK(cell(cube, 0, 4) == "NV2");
  CHECK(cell(cube, 0, 5) == "SYS");
  CHECK(nic_cell(cube, 2, "mlx5_0") == "PIX");
  CHECK(cube.gpus[5].cpus == "12-23,36-47");
  CHECK(cube.gpus[5].numa.empty());

  const MachineFacts partial = machine(*folder, "topo-006");
  CHECK(cell(partial, 0, 1) == "NV2");
  CHECK(cell(partial, 0, 2) == "NV1");
  CHECK(cell(partial, 0, 3) == "NODE");
  CHECK(nic_cell(partial, 2, "mlx5_2") == "PIX");

  const MachineFacts k80 = machine(*folder, "topo-007");
  CHECK(cell(k80, 0, 1) == "PIX");
  CHECK(cell(k80, 0, 2) == "SYS");
  CHECK(nic_cell(k80, 2, "mlx5_0") == "PHB");

  const MachineFacts indented = machine(*folder, "topo-009");
  for (int gpu = 0; gpu < 4; ++gpu)
    CHECK(nic_cell(indented, gpu, "mlx5_" + std::to_string(gpu)) == "PXB");
  CHECK(indented.gpus[3].cpus == "0-15");
  CHECK(indented.gpus[3].numa == "0");
}

TEST_CASE("corpus: odd layouts of matrices") {
  const auto folder = corpus();
  if (!folder) return;
  const MachineFacts grace = machine(*folder, "topo-010");
  CHECK(grace.gpus[2].cpus == "72-143");
  CHECK(grace.gpus[2].gpu_numa == "18");
  CHECK(grace.gpus[0].numa == "0,3-9,11-17");
  CHECK(grace.nic_nic[2][3] == PathKind::pix);
  CHECK(grace.nic_nic[6][7] == PathKind::pix);
  CHECK(grace.nic_nic[0][1] == PathKind::sys);

  const MachineFacts nps4 = machine(*folder, "topo-013");
  CHECK(nps4.gpus[0].numa == "3");
  CHECK(nps4.gpus[2].numa == "1");
  CHECK(nic_cell(nps4, 0, "NIC1") == "PXB");
  CHECK(nic_cell(nps4, 2, "NIC3") == "PXB");
  CHECK(nic_cell(nps4, 4, "NIC6") == "PXB");
  CHECK(cell(nps4, 7, 3) == "NV12");  // from the row of GPU3
  CHECK(cell(nps4, 5, 6) == "?");

  CHECK(cell(machine(*folder, "topo-014"), 0, 1) == "NODE");
  const MachineFacts swapped = machine(*folder, "topo-015");
  CHECK(cell(swapped, 0, 1) == "SYS");
  CHECK(swapped.gpus[0].numa == "1");
  CHECK(machine(*folder, "topo-016").gpus[1].cpus == "1,3,5,7,9,11");
  const MachineFacts odd = machine(*folder, "topo-017");
  CHECK(cell(odd, 0, 1) == "NV4");
  CHECK(cell(odd, 2, 0) == "NODE");
  const MachineFacts report = machine(*folder, "topo-021");
  CHECK(nic_cell(report, 7, "NIC0") == "SYS");
  CHECK(report.gpus[4].numa == "1");
  const MachineFacts compact = machine(*folder, "topo-022");
  CHECK(compact.gpus[4].cpus == "24-47");
  CHECK(compact.gpus[4].numa == "1");
  CHECK(machine(*folder, "topo-023").gpus[7].cpus == "52-103");
  CHECK(machine(*folder, "topo-024").gpus[0].numa.empty());

  const MachineFacts commented = machine(*folder, "topo-026");
  CHECK(cell(commented, 0, 4) == "NV2");
  CHECK(nic_cell(commented, 2, "mlx5_2") == "PIX");
  CHECK(nic_cell(commented, 2, "mlx5_3") == "PIX");
  CHECK(nic_cell(commented, 4, "mlx4_0") == "NODE");
  CHECK(cell(commented, 6, 5) == "NV2");
  CHECK(cell(commented, 6, 7) == "?");
  const MachineFacts snc = machine(*folder, "topo-028");
  CHECK(nic_cell(snc, 3, "NIC3") == "PIX");
  CHECK(snc.gpus[3].numa == "1");
  CHECK(nic_cell(snc, 4, "NIC4") == "PIX");
  CHECK(snc.gpus[4].numa == "2");
}

TEST_CASE("corpus: a cut cube is completed to six links per GPU") {
  const auto folder = corpus();
  if (!folder) return;
  const ClusterSpec cluster = cluster_from(machine(*folder, "topo-026"), {});
  CHECK(cluster.node.intra.mesh_links.at({6, 7}) == 2);
  CHECK(cluster.node.intra.gpu_rate == gigabytes_per_second(150));
}

TEST_CASE("corpus: figures of the XML files") {
  const auto folder = corpus();
  if (!folder) return;
  const MachineFacts mi300 = machine(*folder, "xml-003");
  for (const NicFact& nic : mi300.nics) CHECK(nic.rate == gigabits_per_second(400));
  CHECK(mi300.gpus[0].multiprocessors == 304);
  CHECK(mi300.gpus[0].pcie_rate->value() == Approx(63.0e9).epsilon(0.01));
  const MachineFacts rome = machine(*folder, "xml-004");
  CHECK(rome.nics[3].device == "mlx5_7");
  CHECK(rome.nics[3].rate == gigabits_per_second(200));
  CHECK(rome.gpus[0].multiprocessors == 120);
  const MachineFacts ndv4 = machine(*folder, "xml-006");
  CHECK(ndv4.gpu_nic[0][0] == PathKind::pix);
  CHECK(ndv4.gpu_nic[0][2] == PathKind::sys);
  CHECK(ndv4.gpus[7].numa == "3");
  const MachineFacts oci = machine(*folder, "xml-012");
  for (const NicFact& nic : oci.nics) CHECK(nic.rate == gigabits_per_second(180));
  CHECK(oci.nics[15].device == "mlx5_17");
  CHECK(oci.gpus[0].switch_links == 18);
  const MachineFacts vm = machine(*folder, "xml-021");
  CHECK(vm.nics.size() == 8);
  // Virtual links say 2.5 GT/s x1: not believed.
  CHECK_FALSE(vm.gpus[0].pcie_rate);
  CHECK(cluster_from(vm, {}).node.pcie_rate == gigabytes_per_second(63));
  CHECK(machine(*folder, "xml-002").nics[0].rate == gigabits_per_second(1));
  CHECK(machine(*folder, "xml-015").gpu_nic[5][2] == PathKind::pix);
}

TEST_CASE("corpus: graph files are reported") {
  const auto folder = corpus();
  if (!folder) return;
  const Imported azure = read_topology_files({file_of(*folder, "xml-009")});
  CHECK_FALSE(azure.machine);
  const std::vector<ImportedGraph>& graphs = azure.graphs.front().second.graphs;
  REQUIRE(graphs.size() == 3);
  CHECK(graphs[0].pattern_name == "ring");
  CHECK(graphs[0].channels == 2);
  CHECK(graphs[1].orders.size() == 4);
  CHECK(graphs[2].intra == gigabytes_per_second(12));
  CHECK(graphs[0].type_intra == "SYS");
  CHECK(graphs[0].type_inter == "PIX");
  const Imported rccl = read_topology_files({file_of(*folder, "xml-022")});
  const std::vector<ImportedGraph>& four = rccl.graphs.front().second.graphs;
  REQUIRE(four.size() == 4);
  CHECK(four[1].intra == gigabytes_per_second(48));
  CHECK(four[0].inter == gigabytes_per_second(24));
  CHECK(four[0].type_inter == "PXB");
  CHECK(four[0].orders.front() == "net0 gpu0 net0");
  CHECK(four[3].channels == 0);
  CHECK(four[3].pattern_name == "NVLS");
}

TEST_CASE("corpus: matrix and XML of one machine complete each other") {
  const auto folder = corpus();
  if (!folder) return;
  // Azure's file of PCI devices (8 A100, 8 NICs) has no NVLink; a matrix of such a machine has.
  Imported both;
  const fs::path pci = file_of(*folder, "xml-006");
  read_topology_text(read_file(pci), pci.string(), both);
  const fs::path matrix = file_of(*folder, "topo-022");
  read_topology_text(read_file(matrix), matrix.string(), both);
  const ClusterSpec cluster = cluster_from(*both.machine, {});
  CHECK(cluster.node.intra.kind == IntraNodeKind::nvswitch);
  CHECK(cluster.node.intra.gpu_rate == gigabytes_per_second(300));
  CHECK(cluster.node.nics.size() == 8);
  CHECK(cluster.node.switch_socket.size() == 4);
  // The four-GPU matrix is another machine.
  const fs::path other = file_of(*folder, "topo-009");
  CHECK_THROWS_WITH(read_topology_text(read_file(other), other.string(), both),
                    Catch::Contains("8 GPUs") && Catch::Contains("4"));
}

}  // namespace amsp
