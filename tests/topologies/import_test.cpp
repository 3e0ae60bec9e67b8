// SPDX-License-Identifier: Apache-2.0
// Importers on small files of our own: every dress in which a matrix comes, and what is refused.
#include "topologies/import/import.hpp"

#include <rapidcheck/catch.h>

#include <catch2/catch.hpp>

#include "topologies/import/gpu_names.hpp"
#include "topologies/import/nccl_xml.hpp"
#include "topologies/import/pci_speed.hpp"
#include "topologies/import/topo_matrix.hpp"

namespace amsp {
namespace {

// Four GPUs in two bridged pairs on two sockets, one NIC each side (invented).
const std::string kMatrix =
    "\tGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
    "GPU0\t X \tNV4\tSYS\tSYS\tPIX\tSYS\t0-15\t0\t\tN/A\n"
    "GPU1\tNV4\t X \tSYS\tSYS\tPHB\tSYS\t0-15\t0\t\tN/A\n"
    "GPU2\tSYS\tSYS\t X \tNV4\tSYS\tNODE\t16-31\t1\t\tN/A\n"
    "GPU3\tSYS\tSYS\tNV4\t X \tSYS\tPXB\t16-31\t1\t\tN/A\n"
    "NIC0\tPIX\tPHB\tSYS\tSYS\t X \tSYS\t\t\t\t\n"
    "NIC1\tSYS\tSYS\tNODE\tPXB\tSYS\t X \t\t\t\t\n"
    "\nLegend:\n\n  X    = Self\n  NV#  = Connection traversing a bonded set of # NVLinks\n"
    "\nNIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: mlx5_7\n";

std::string with_each_line(std::string_view prefix, std::string_view end) {
  std::string out(prefix);
  for (const char c : kMatrix) {
    if (c != '\n') {
      out += c;
      continue;
    }
    out += std::string(end) + std::string(prefix);
  }
  return out;
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
  return text;
}

void check_matrix(const MachineFacts& facts) {
  REQUIRE(facts.gpus.size() == 4);
  REQUIRE(facts.nics.size() == 2);
  CHECK(facts.gpu_gpu[0][1].nvlinks == 4);
  CHECK(facts.gpu_gpu[0][2].path == PathKind::sys);
  CHECK(facts.gpu_nic[1][0] == PathKind::phb);
  CHECK(facts.gpu_nic[3][1] == PathKind::pxb);
  CHECK(facts.nics[1].device == "mlx5_7");
  CHECK(facts.gpus[2].cpus == "16-31");
  CHECK(facts.gpus[2].numa == "1");
  CHECK(facts.gpus[2].gpu_numa.empty());
}

}  // namespace

TEST_CASE("a matrix is read in every dress") {
  SECTION("as printed") { check_matrix(parse_topo_matrix(kMatrix, "m")); }
  SECTION("CRLF") { check_matrix(parse_topo_matrix(with_each_line("", "\r\n"), "m")); }
  SECTION("commented") { check_matrix(parse_topo_matrix(with_each_line("#  ", "\n"), "m")); }
  SECTION("quoted") { check_matrix(parse_topo_matrix(with_each_line("> ", "\n"), "m")); }
  SECTION("srun -l") { check_matrix(parse_topo_matrix(with_each_line(" 0: ", "\n"), "m")); }
  SECTION("mpirun") {
    check_matrix(parse_topo_matrix(with_each_line("[1,0]<stdout>:", "\n"), "m"));
  }
  SECTION("blanks for tabs") {
    check_matrix(parse_topo_matrix(replaced(kMatrix, "\t", "   "), "m"));
  }
  SECTION("underlined header") {
    check_matrix(
        parse_topo_matrix(replaced(kMatrix, "GPU0\tGPU1", "\x1b[4mGPU0\tGPU1\x1b[0m"), "m"));
  }
  SECTION("colours whose escape character was lost") {
    check_matrix(parse_topo_matrix(replaced(kMatrix, "GPU0\tGPU1", "[4mGPU0\tGPU1[0m"), "m"));
  }
  SECTION("a Markdown table") {
    check_matrix(parse_topo_matrix(replaced(kMatrix, "\t", " | "), "m"));
  }
  SECTION("after a command line and chatter") {
    check_matrix(
        parse_topo_matrix("$ nvidia-smi topo -m\nhello GPU\n" + kMatrix + "$ exit\n", "m"));
  }
  SECTION("wrapped by a narrow terminal") {
    check_matrix(parse_topo_matrix(replaced(kMatrix, "SYS\tSYS\tPIX", "SYS\n\tSYS\tPIX"), "m"));
  }
  SECTION("as a JSON string") {
    Imported imported;
    read_topology_text(
        "{\"topo\": \"" + replaced(replaced(kMatrix, "\t", "\\t"), "\n", "\\n") + "\"}", "m",
        imported);
    check_matrix(*imported.machine);
  }
  SECTION("with a NIC whose name has no digit") {
    const MachineFacts facts = parse_topo_matrix(
        replaced(replaced(kMatrix, "NIC1\tCPU", "storage\tCPU"), "NIC1\tSYS", "storage\tSYS"), "m");
    CHECK(facts.nics[1].label == "storage");
    CHECK(facts.gpu_nic[3][1] == PathKind::pxb);
    CHECK(facts.gpus[2].numa == "1");
  }
  SECTION("without the NICs' rows") {
    const std::size_t nic = kMatrix.find("NIC0\tPIX");
    const std::size_t legend = kMatrix.find("\nLegend");
    check_matrix(parse_topo_matrix(kMatrix.substr(0, nic) + kMatrix.substr(legend), "m"));
  }
}

TEST_CASE("a cut matrix keeps what it says and says what it lacks") {
  const std::string cut = kMatrix.substr(0, kMatrix.find("\tNODE\t16-31"));
  const MachineFacts facts = parse_topo_matrix(cut, "cut.txt");
  CHECK(facts.gpus.size() == 4);
  CHECK(facts.gpu_gpu[3][0].path == PathKind::sys);  // from the row of GPU0
  CHECK(facts.gpu_nic[2][1] == PathKind::unknown);
  CHECK(facts.gpus[2].numa.empty());
  std::string notes;
  for (const std::string& note : facts.notes) notes += note + "\n";
  CHECK_THAT(notes, Catch::Contains("no row for GPU3 NIC0 NIC1"));
  CHECK_THAT(notes, Catch::Contains("the row of GPU2 has 5 of 6 cells"));
  const ClusterSpec cluster = cluster_from(facts, {});
  CHECK(cluster.node.gpus == 4);
}

TEST_CASE("a matrix becomes a cluster with its sockets, switches and nearest NICs") {
  ImportOptions options;
  options.nodes = 3;
  options.gpu = "a6000";
  options.nic_rate = gigabits_per_second(25);
  const ClusterSpec cluster = cluster_from(parse_topo_matrix(kMatrix, "m"), options);
  CHECK(cluster.nodes == 3);
  CHECK(cluster.node.intra.kind == IntraNodeKind::nvlink_mesh);
  CHECK(cluster.node.intra.mesh_links.size() == 2);
  CHECK(cluster.node.intra.mesh_links.at({2, 3}) == 4);
  CHECK(cluster.node.sockets() == 2);
  CHECK(cluster.node.switch_socket.size() == 2);
  CHECK(cluster.node.nics[0].rate == gigabits_per_second(25));
  CHECK(cluster.node.nics[0].gpus == std::vector<int>{0, 1});
  CHECK(cluster.node.nics[1].gpus == std::vector<int>{2, 3});
  CHECK(cluster.node.socket_of_slot(3) == cluster.node.nics[1].socket);
}

TEST_CASE("the GPU type is guessed from the NVLinks") {
  const auto guess = [](const std::string& matrix) {
    return guess_gpu_type(parse_topo_matrix(matrix, "m")).type;
  };
  CHECK(guess(replaced(kMatrix, "NV4", "NV12")) == "a100-pcie-80gb");  // bridged pairs
  CHECK(guess(kMatrix) == "rtx-a6000");
  CHECK(guess("GPU0 GPU1\nGPU0 X NV18\nGPU1 NV18 X\n") == "h100-sxm5-80gb");
  CHECK(guess("GPU0 GPU1\nGPU0 X PIX\nGPU1 PIX X\n") == "l40s");
}

TEST_CASE("an environment report names the GPU type") {
  const std::string report = "GPU models and configuration:\nGPU 0: NVIDIA H200 (UUID: GPU-0)\n";
  std::vector<std::string> notes;
  CHECK(gpu_type_in_text(report, notes) == "h200-sxm-141gb");
  CHECK(notes.empty());
  CHECK(gpu_type_in_text("GPU 0: Voodoo 2", notes) == std::nullopt);
  CHECK(notes.size() == 1);
  const ClusterSpec cluster = cluster_from(parse_topo_matrix(report + kMatrix, "m"), {});
  CHECK(cluster.node.gpu.name == "NVIDIA H200");
}

TEST_CASE("topology XML: one switch, two GPUs, a dual-port NIC") {
  const std::string xml = R"(<system version="1">
  <cpu numaid="0" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="0000:01:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0000:02:00.0" class="0x030200" device="0x2330"
           link_speed="32.0 GT/s PCIe" link_width="16">
        <gpu dev="0" sm="90" rank="0" gdr="1">
          <nvlink target="0000:03:00.0" count="4" tclass="0x030200"/>
        </gpu>
      </pci>
      <pci busid="0000:03:00.0" class="0x030200" device="0x2330"
           link_speed="32.0 GT/s PCIe" link_width="16">
        <gpu dev="1" sm="90" rank="1" gdr="1">
          <nvlink target="0000:02:00.0" count="4" tclass="0x030200"/>
        </gpu>
      </pci>
      <pci busid="0000:04:00.0" class="0x020000" link_speed="16 GT/s" link_width="16">
        <nic>
          <net name="mlx5_0" dev="0" speed="100000" port="1"/>
          <net name="mlx5_1" dev="1" speed="100000" port="2"/>
        </nic>
      </pci>
    </pci>
  </cpu>
</system>)";
  const MachineFacts facts = parse_nccl_topology(xml, "t.xml");
  REQUIRE(facts.gpus.size() == 2);
  REQUIRE(facts.nics.size() == 2);
  CHECK(facts.gpu_gpu[0][1].nvlinks == 4);
  CHECK(facts.gpu_gpu[0][1].path == PathKind::pix);
  CHECK(facts.nics[1].rate == gigabits_per_second(100));
  CHECK(facts.socket_rate == gigabytes_per_second(22));
  // 32 GT/s x 16 lanes x 128/130 / 8 bits.
  CHECK(facts.gpus[0].pcie_rate->value() == Approx(32e9 * 16 * 128 / 130 / 8));
  SECTION("cut in the middle") {
    const MachineFacts cut = parse_nccl_topology(xml.substr(0, xml.find("0000:04")), "t.xml");
    CHECK(cut.gpus.size() == 2);
    CHECK(cut.nics.empty());
    CHECK_FALSE(cut.notes.empty());
  }
  SECTION("behind chatter") {
    CHECK(parse_nccl_topology("NCCL INFO dump\n" + xml, "t.xml").gpus.size() == 2);
  }
}

TEST_CASE("PCIe speeds") {
  CHECK(pcie_rate("8 GT/s", 16)->value() == Approx(15.75e9).epsilon(0.001));
  CHECK(pcie_rate("16.0 GT/s PCIe", 16)->value() == Approx(31.5e9).epsilon(0.001));
  CHECK(pcie_rate("5.0 GT/s PCIe", 16)->value() == Approx(8e9));
  CHECK_FALSE(pcie_rate("2.5 GT/s PCIe", 1));
  CHECK_FALSE(pcie_rate("", 0));
  CHECK_FALSE(pcie_rate("Unknown", 16));
}

TEST_CASE("rates between sockets are NCCL's for the CPU") {
  const auto intel = [](int family, int model) {
    return cpu_type("x86_64", "GenuineIntel", family, model).socket_rate;
  };
  CHECK(intel(6, 0x4F) == gigabytes_per_second(6));
  CHECK(intel(6, 0x55) == gigabytes_per_second(10));
  CHECK(intel(6, 0x8F) == gigabytes_per_second(22));
  CHECK(intel(6, 0xCF) == gigabytes_per_second(40));
  CHECK(intel(15, 0x8F) == gigabytes_per_second(6));  // topo.cc: only of family 6 are the others
  CHECK(intel(0, 0) == gigabytes_per_second(10));     // not stated
}

TEST_CASE("what is no topology is refused with what it seems to be") {
  using Catch::Contains;
  Imported imported;
  const auto read = [&](std::string_view text) { read_topology_text(text, "f", imported); };
  CHECK_THROWS_WITH(read(""), Contains("f: the file is empty"));
  CHECK_THROWS_WITH(read(std::string_view("\x7f"
                                          "ELF\0\0\1",
                                          8)),
                    Contains("binary"));
  CHECK_THROWS_WITH(read("# size count type redop time algbw busbw\n"), Contains("amsp calibrate"));
  CHECK_THROWS_WITH(read("\tGPU0\tGPU1\n"), Contains("no row of a matrix"));
  CHECK_THROWS_WITH(read("<html><body/></html>"), Contains("nvidia-smi topo -m"));
  CHECK_THROWS_WITH(read("<system><cpu numaid=\"0\"/></system>"), Contains("holds no GPU"));
  ImportOptions unknown;
  unknown.gpu = "h1000";
  CHECK_THROWS_WITH(cluster_from(parse_topo_matrix(kMatrix, "m"), unknown),
                    Contains("unknown GPU type"));
  ImportOptions two;
  two.nodes = 2;
  CHECK_THROWS_WITH(cluster_from(parse_topo_matrix("  GPU0 GPU1\nGPU0 X PIX\n", "m"), two),
                    Contains("--nics"));
}

TEST_CASE("no damage to a file crashes the importers") {
  rc::prop("read or refused", [] {
    std::string text = kMatrix;
    for (int i = *rc::gen::inRange(1, 20); i > 0; --i) {
      const auto at = static_cast<std::size_t>(*rc::gen::inRange<int>(0, int(text.size())));
      switch (*rc::gen::inRange(0, 4)) {
        case 0:
          text.erase(at, static_cast<std::size_t>(*rc::gen::inRange(1, 40)));
          break;
        case 1:
          text.insert(at, "\n");
          break;
        case 2:
          text.insert(at, text.substr(at / 2, 30));
          break;
        default:
          text[at] = static_cast<char>(*rc::gen::inRange(0, 256));
      }
      if (text.empty()) text = "x";
    }
    try {
      Imported imported;
      read_topology_text(text, "damaged", imported);
      if (imported.machine) cluster_from(*imported.machine, {});
    } catch (const InputError& error) {
      RC_ASSERT(std::string(error.what()).size() > 10);
    }
  });
}

}  // namespace amsp
