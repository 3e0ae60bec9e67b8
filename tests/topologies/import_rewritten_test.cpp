// SPDX-License-Identifier: Apache-2.0
// Matrices and trees as people hand them over: from web pages, spreadsheets and tools that print
// something near, and trees with ports and links that are down (all invented).
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <functional>

#include "base/error.hpp"
#include "topologies/import/import.hpp"

namespace amsp {
namespace {

// Four GPUs on two sockets, a NIC on the first.
std::string matrix(const std::string& link = "NV18") {
  std::string text = "\tGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n";
  for (int row = 0; row < 4; ++row) {
    text += fmt::format("GPU{}", row);
    for (int column = 0; column < 4; ++column)
      text += "\t" + (row == column ? std::string(" X ") : link);
    text += row < 2 ? "\tPIX\t0-55,112-167\t0\tN/A\n" : "\tSYS\t56-111,168-223\t1\tN/A\n";
  }
  return text + "NIC0\tPIX\tPIX\tSYS\tSYS\t X \n";
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
  return text;
}

MachineFacts facts_of(const std::string& text) {
  Imported imported;
  read_topology_text(text, "f", imported);
  return *imported.machine;
}

std::string message_of(const std::string& text) {
  try {
    facts_of(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

bool says(const std::vector<std::string>& notes, const std::string& part) {
  for (const std::string& note : notes)
    if (note.find(part) != std::string::npos) return true;
  return false;
}

void check_matrix(const std::string& text) {
  const MachineFacts facts = facts_of(text);
  CAPTURE(text);
  REQUIRE(facts.gpus.size() == 4);
  REQUIRE(facts.nics.size() == 1);
  CHECK(facts.gpu_gpu[0][3].nvlinks == 18);
  CHECK(facts.gpu_nic[1][0] == PathKind::pix);
  CHECK(facts.gpus[1].cpus == "0-55,112-167");
  CHECK(facts.gpus[3].numa == "1");
  CHECK(facts.gpus[3].gpu_numa.empty());
}

const char* const kP2p =
    " \tGPU0\tGPU1\t\n GPU0\tX\tOK\t\n GPU1\tGNS\tX\t\n\nLegend:\n  X = Self\n";

// Eight GPUs with so many links each to a switch.
std::string tree(const std::function<int(int)>& links, const std::string& speed = "400000") {
  std::string text = R"(<system version="1"><cpu numaid="0" arch="x86_64">)";
  for (int i = 0; i < 8; ++i)
    text += fmt::format(
        R"(<pci busid="0000:{0:02x}:00.0" class="0x030200" device="0x2330"><gpu dev="{1}" sm="90">)"
        R"(<nvlink target="0000:c0:00.0" count="{2}" tclass="0x068000"/>)"
        R"(<nvlink target="0000:c1:00.0" count="{2}" tclass="0x068000"/></gpu></pci>)",
        16 + i, i, links(i));
  return text + R"(<nic><net name="mlx5_0" speed=")" + speed +
         R"(" port="1"/></nic></cpu></system>)";
}

}  // namespace

TEST_CASE("a matrix from a spreadsheet, a web page, a Markdown table or a string") {
  check_matrix(matrix());
  check_matrix(replaced(matrix(), "\t", ","));
  check_matrix(replaced(matrix(), "\t", ";"));
  std::string quoted = replaced(matrix(), "\t", "\",\"");
  check_matrix("\"" + replaced(quoted, "\n", "\"\n\""));
  check_matrix("<pre>\n" + replaced(matrix(), "\t", "&nbsp;&nbsp;") + "</pre>\n");
  check_matrix(replaced(replaced(matrix(), "\t", " | "), "NV18", "`NV18`"));
  check_matrix(replaced(replaced(matrix(), "\t", " | "), "GPU1 |", "**GPU1** |"));
  // A column too narrow for its name.
  check_matrix(replaced(replaced(matrix(), "\t", "  "), "NV18  NV18", "NV18NV18"));
  // A terminal cut the affinity in two.
  check_matrix(replaced(matrix(), "0-55,112-167", "0-55,112-\n167"));
  check_matrix(replaced(matrix(), "0-55,112-167", "0-55,\n112-167"));
}

TEST_CASE("a matrix of peer access is passed over, alone it is refused by name") {
  CHECK(message_of(kP2p).find("nvidia-smi topo -p2p") != std::string::npos);
  check_matrix(kP2p + matrix());
  check_matrix(matrix() + "\n" + kP2p);
  CHECK_FALSE(says(facts_of(matrix() + "\n" + kP2p).notes, "matrices in the file"));
}

TEST_CASE("names of GPUs parted by commas in a comment are no matrix") {
  const auto nine = [](int) { return 9; };
  for (const char* mark : {",", ";"}) {
    const std::string names = fmt::format("GPU0{}GPU1", mark);
    CAPTURE(names);
    for (const std::string& comment :
         {"# CUDA devices: " + names, "# export A=\"" + names + "\""}) {
      check_matrix(comment + "\n" + matrix());
      CHECK_FALSE(says(facts_of(comment + "\n" + matrix()).notes, "matrices in the file"));
      check_matrix(comment + "\n" + replaced(matrix(), "\t", mark));
    }
    CHECK(facts_of("<!-- with " + names + " -->\n" + tree(nine)).gpus.size() == 8);
    CHECK(facts_of("<!--\n" + names + "\n-->\n" + tree(nine)).gpus.size() == 8);
  }
}

TEST_CASE("every matrix of peer access takes its header back") {
  const std::string p2p = kP2p;
  for (const std::string& text : {matrix() + "\n" + p2p + "\n" + p2p, p2p + p2p + "\n" + matrix(),
                                  p2p + matrix() + "\n" + p2p}) {
    check_matrix(text);
    CHECK_FALSE(says(facts_of(text).notes, "matrices in the file"));
  }
  CHECK(says(facts_of(matrix() + "\n" + p2p + "\n" + matrix()).notes, "2 matrices in the file"));
}

TEST_CASE("GPUs with few links on board are taken to be linked, cards with a bridge are not") {
  const auto devices = [](const std::string& device) {
    std::string text = R"(<system version="1"><cpu numaid="0" arch="x86_64">)";
    for (int i = 0; i < 8; ++i)
      text += fmt::format(R"(<pci busid="0000:{:02x}:00.0" class="0x030200" device="{}"/>)", i + 7,
                          device);
    return text + "</cpu></system>";
  };
  for (const char* module : {"0x15f9", "0x7408"}) {  // P100-SXM2, MI250X
    const ClusterSpec cluster = cluster_from(facts_of(devices(module)), {});
    CHECK(cluster.node.intra.kind == IntraNodeKind::nvswitch);
    CHECK(says(cluster.assumptions, "has 4 links"));
  }
  for (const char* card : {"0x2230", "0x740f"}) {  // RTX A6000, MI210
    const ClusterSpec cluster = cluster_from(facts_of(devices(card)), {});
    CHECK(cluster.node.intra.kind == IntraNodeKind::pcie);
  }
}

TEST_CASE("what is near to a topology is named, with what to take") {
  CHECK(message_of("host:1:2 [0] NCCL INFO === System : maxBw 370.8 totalBw 370.8 ===\n")
            .find("NCCL_TOPO_DUMP_FILE=topo.xml") != std::string::npos);
  CHECK(message_of("| NVIDIA-SMI 535.104.05   Driver Version: 535.104.05 |\n")
            .find("take nvidia-smi topo -m") != std::string::npos);
  // mpirun's marks are no list of JSON.
  const std::string marked = message_of("[1,0]<stdout>:#  size \"x\" time  algbw  busbw\n");
  CHECK(marked.find("this looks like nccl-tests output (amsp") != std::string::npos);
  CHECK(message_of("[ {\"busbw\": 1}]").find("output in JSON") != std::string::npos);
  CHECK(message_of("{\"name\": \"x\", \"node\": {}, \"fabric\": {}}")
            .find("a cluster file already") != std::string::npos);
}

TEST_CASE("the table of nvidia-smi names the GPU type") {
  const std::string table =
      "| NVIDIA-SMI 535.104.05   Driver Version: 535.104.05   CUDA Version: 12.2     |\n"
      "|   0  NVIDIA H200                    On  | 00000000:1B:00.0 Off |              0 |\n";
  CHECK(facts_of(table + matrix()).gpus[0].type == "h200-sxm-141gb");
  CHECK_FALSE(facts_of(replaced(table, "H200", "A100-SXM...") + matrix()).gpus[0].type);
}

TEST_CASE("no NVLink though the type has it is said: topo -mp prints none") {
  const std::string named = "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-0)\n";
  const ClusterSpec cluster = cluster_from(facts_of(named + matrix("NODE")), {});
  CHECK(cluster.node.intra.kind == IntraNodeKind::pcie);
  CHECK(says(cluster.assumptions, "the files show no NVLink, NVIDIA H100 80GB HBM3 has 18"));
  const std::string card = "GPU 0: NVIDIA H100 PCIe (UUID: GPU-0)\n";
  CHECK_FALSE(says(cluster_from(facts_of(card + matrix("NODE")), {}).assumptions, "topo -mp"));
}

TEST_CASE("trees: escaped, with links and ports that are down, cut inside a GPU") {
  const auto nine = [](int) { return 9; };
  const std::string escaped = replaced(replaced(tree(nine), "<", "&lt;"), ">", "&gt;");
  CHECK(facts_of(escaped).gpus[7].switch_links == 18);
  const ClusterSpec off = cluster_from(facts_of(tree([](int i) { return i == 3 ? 0 : 9; })), {});
  CHECK(off.node.intra.slower_gpus == std::map<int, Bandwidth>{{3, Bandwidth(0)}});
  CHECK_FALSE(off.node.intra.multicast);
  const MachineFacts down = facts_of(tree(nine, "10"));
  CHECK_FALSE(down.nics[0].rate.has_value());
  CHECK(says(down.notes, "mlx5_0 (10 Mb/s)"));
  CHECK(facts_of(tree(nine, "1000")).nics[0].rate == gigabits_per_second(1));
  // The last GPU's second element is cut away: no link of it is down.
  const std::string whole = tree(nine);
  const ClusterSpec cut = cluster_from(facts_of(whole.substr(0, whole.rfind("<nvlink") + 9)), {});
  CHECK(cut.node.gpus == 8);
  CHECK(cut.node.intra.slower_gpus.empty());
}

}  // namespace amsp
