// SPDX-License-Identifier: Apache-2.0
// Matrices with cells that are no paths, and files of two machines.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "topologies/gpu_architecture.hpp"
#include "topologies/import/import.hpp"
#include "topologies/import/plain_text.hpp"
#include "topologies/import/topo_table.hpp"

namespace amsp {
namespace {

std::string matrix(const std::string& first, const std::string& last) {
  return "\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \t" + first +
         "\tPXB\t0-31\t0\nGPU1\tNV12\t X \t" + last + "\t0-31\t0\nNIC0\tPXB\tPXB\t X \n" +
         "\nNIC Legend:\n\n  NIC0: mlx5_0\n";
}

std::string message_of(const std::vector<std::pair<std::string, std::string>>& files) {
  Imported imported;
  try {
    for (const auto& [name, text] : files) read_topology_text(text, name, imported);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Two GPUs and one NIC in NCCL's XML (invented).
std::string tree(const std::string& device, int bus, const std::string& nic) {
  const auto gpu = [&](int i) {
    return fmt::format(R"(<pci busid="0000:{:02x}:00.0" class="0x030200" device="{}">)"
                       R"(<gpu dev="{}" sm="80"/></pci>)",
                       bus + i, device, i);
  };
  return R"(<system version="1"><cpu numaid="0" arch="x86_64">)" + gpu(0) + gpu(1) +
         R"(<nic><net name=")" + nic +
         R"(" dev="0" speed="200000" port="1"/></nic></cpu></system>)";
}

const char* const kA100 = "0x20b2";
const char* const kH100 = "0x2330";

}  // namespace

TEST_CASE("a cell that is no path is named with its row and column") {
  CHECK(message_of({{"m.txt", matrix("NV12", "PXB")}}).empty());
  for (const std::string word : {"FOO", "NV999", "NV65", "pix?", "NVLINK"}) {
    const std::string message = message_of({{"m.txt", matrix(word, "PXB")}});
    CHECK(has(message, "m.txt: line 2: row GPU0, column GPU1: \"" + word + "\" is no path"));
    CHECK(has(message, "SYS"));
  }
  CHECK(has(message_of({{"m.txt", matrix("NV12", "BAR")}}),
            "line 3: row GPU1, column NIC0: \"BAR\""));
  std::string diagonal = matrix("NV12", "PXB");
  diagonal.replace(diagonal.find(" X "), 3, "ME!");
  CHECK(has(message_of({{"m.txt", diagonal}}), "row GPU0, column GPU0: \"ME!\""));
}

TEST_CASE("affinities are no cells, and rows may still be cut") {
  const std::string cut = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV2\t0-15\nGPU1\tNV2\n";
  CHECK(message_of({{"m.txt", cut}}).empty());
  CHECK(is_path_word("NV64"));
  CHECK_FALSE(is_path_word("NV"));
}

TEST_CASE("GPUs that the driver leaves out are numbered anew, and that is said") {
  Imported imported;
  read_topology_text("\tGPU0\tGPU2\tCPU Affinity\nGPU0\t X \tNV2\t0-15\nGPU2\tNV2\t X \t0-15\n",
                     "m.txt", imported);
  REQUIRE(imported.machine->notes.size() == 1);
  CHECK(has(imported.machine->notes[0], "position 1 holds GPU2"));
}

TEST_CASE("lines without end are cut, not read to the end") {
  std::string line;
  while (line.size() < 1'000'000) line += "8 2 float sum ";
  CHECK(plain_lines(line + "\n" + matrix("NV12", "PXB")).front().size() == 65536);
  CHECK(has(message_of({{"m.txt", line}}), "m.txt: nothing in it looks like one"));
}

TEST_CASE("AMD's matrices are recognised and refused with another way") {
  const std::string message =
      message_of({{"r.txt",
                   "=========== ROCm System Management Interface ===========\n"
                   "===== Link Type between two GPUs =====\n       GPU0  GPU1\nGPU0   0  XGMI\n"}});
  CHECK(has(message, "rocm-smi"));
  CHECK(has(message, "NCCL_TOPO_DUMP_FILE"));
}

TEST_CASE("files of two machines are not merged") {
  const std::string a = tree(kA100, 7, "mlx5_0");
  CHECK(message_of({{"a.xml", a}, {"m.txt", matrix("NV12", "PXB")}}).empty());
  const std::string other_type = message_of({{"a.xml", a}, {"b.xml", tree(kH100, 7, "mlx5_0")}});
  CHECK(has(other_type, "b.xml: shows GPU0 as h100"));
  CHECK(has(other_type, "but a.xml shows GPU0 as a100"));
  CHECK(has(message_of({{"a.xml", a}, {"b.xml", tree(kA100, 0x47, "mlx5_0")}}),
            "GPUs at 0000:47:00.0"));
  CHECK(has(message_of({{"a.xml", a}, {"b.xml", tree(kA100, 7, "mlx5_9")}}), "the NICs mlx5_9"));
  const std::string one = "\tGPU0\tCPU Affinity\nGPU0\t X \t0-15\n";
  CHECK(has(message_of({{"a.xml", a}, {"m.txt", one}}), "m.txt: shows 1 GPU, but a.xml shows 2"));
}

// All pairs of `gpus` joined by the word.
std::string all_to_all(int gpus, const std::string& word) {
  std::string text;
  for (int i = 0; i < gpus; ++i) text += fmt::format("\tGPU{}", i);
  for (int i = 0; i < gpus; ++i) {
    text += fmt::format("\nGPU{}", i);
    for (int j = 0; j < gpus; ++j) text += "\t" + (i == j ? " X " : word);
  }
  return text + "\n";
}

TEST_CASE("links of two GPU models are of two machines, links that are down are not") {
  const std::string h100 = all_to_all(4, "NV18"), a100 = all_to_all(4, "NV4");
  const std::string message = message_of({{"h.txt", h100}, {"a.txt", a100}});
  CHECK(has(message, "a.txt: shows GPUs of 12 NVLinks"));
  CHECK(has(message, "but h.txt shows GPUs of 18 NVLinks"));
  CHECK_FALSE(message_of({{"a.txt", a100}, {"h.txt", h100}}).empty());
  // The tree names A100, which has twelve.
  CHECK(has(message_of({{"a.xml", tree(kA100, 7, "mlx5_0")}, {"h.txt", all_to_all(2, "NV18")}}),
            "a.xml shows GPUs of type a100-sxm4-80gb"));
  CHECK(message_of({{"a.xml", tree(kA100, 7, "mlx5_0")}, {"m.txt", all_to_all(2, "NV4")}}).empty());
  // One GPU lost a link since the other file was written.
  std::string degraded = h100;
  for (std::size_t at = degraded.find("NV18\nGPU1"); at < degraded.find("\nGPU2"); ++at)
    if (degraded.compare(at, 4, "NV18") == 0) degraded.replace(at, 4, "NV17");
  REQUIRE(degraded != h100);
  CHECK(message_of({{"h.txt", h100}, {"d.txt", degraded}}).empty());
  CHECK(message_of({{"h.txt", h100}, {"d.txt", all_to_all(4, "NV17")}}).empty());
}

TEST_CASE("values of a tree that say nothing are named, and so is the file of a cut one") {
  Imported imported;
  read_topology_text(
      R"(<system version="1"><cpu numaid="0" arch="x86_64" vendor="GenuineIntel" familyid="six">)"
      R"(<pci busid="0000:07:00.0" class="0x030200" link_speed="abc" link_width="-3">)"
      R"(<gpu dev="0" sm="80"><nvlink target="0000:08:00.0" count="-5"/></gpu></pci>)"
      R"(<pci busid="0000:08:00.0" class="0x030200" link_speed="" link_width="0">)"
      R"(<gpu dev="1" sm="80"><nvlink target="zz" count="1"/></gpu></pci>)"
      R"(<nic><net name="mlx5_0" speed="nan"/><net name="mlx5_1" speed="-1"/></nic></cpu></no>)",
      "bad.xml", imported);
  std::string notes;
  for (const std::string& note : imported.machine->notes) notes += note + "\n";
  for (const char* said :
       {"bad.xml: line 1: Start-end tags mismatch", "bad.xml: cpu: familyid=\"six\"",
        "bad.xml: pci at 0000:07:00.0: link_speed=\"abc\"",
        "bad.xml: pci at 0000:07:00.0: link_width=\"-3\" is not used; accepted: a whole number",
        "nvlink at 0000:07:00.0: count=\"-5\"", "nvlink at 0000:08:00.0: target=\"zz\"",
        "bad.xml: net: speed=\"nan\""}) {
    INFO(said << "\n" << notes);
    CHECK(has(notes, said));
  }
  CHECK_FALSE(has(notes, "0000:08:00.0: link_"));
  CHECK_FALSE(has(notes, "speed=\"-1\""));
  CHECK(imported.machine->gpu_gpu[0][1].nvlinks <= 0);
  Imported cut;
  read_topology_text("\tGPU0\tGPU1\nGPU0\t X \tNV2\nGPU1\tNV2\n", "cut.txt", cut);
  REQUIRE_FALSE(cut.machine->notes.empty());
  CHECK(has(cut.machine->notes[0], "cut.txt: line 3: the row of GPU1 has 1 of 2 cells"));
}

TEST_CASE("GCDs in one web of XGMI are modules, bridged ones cards") {
  // gfx90a with 104 units, three links each: a cube of eight, and a bridge of four.
  const auto gcds = [](int gpus, const std::vector<int>& flips) {
    std::string text = R"(<system version="2"><cpu numaid="0" arch="x86_64">)";
    for (int i = 0; i < gpus; ++i) {
      text += fmt::format(R"(<pci busid="0000:{:02x}:00.0" class="0x038000">)", i + 1) +
              R"(<gpu dev="0" sm="104" gcn="910">)";
      for (const int flip : flips)
        text += fmt::format(R"(<xgmi target="0000:{:02x}:00.0" count="1"/>)", (i ^ flip) + 1);
      text += "</gpu></pci>";
    }
    Imported imported;
    read_topology_text(text + "</cpu></system>", "gcd.xml", imported);
    return cluster_from(*imported.machine, {}).node.gpu.name;
  };
  CHECK(has(gcds(8, {1, 2, 4}), "MI250 "));
  CHECK(has(gcds(4, {1, 2, 3}), "MI210"));
  CHECK(has(gcds(8, {1, 2, 3}), "MI210"));
}

TEST_CASE("files of one machine say that they are taken for one") {
  Imported imported;
  read_topology_text(tree(kA100, 7, "mlx5_0"), "a.xml", imported);
  read_topology_text(matrix("NV12", "PXB"), "m.txt", imported);
  const ClusterSpec cluster = cluster_from(*imported.machine, {});
  bool said = false;
  for (const std::string& assumption : cluster.assumptions)
    said = said || has(assumption, "a.xml and m.txt are taken to be of one machine");
  CHECK(said);
}

TEST_CASE("a GPU model that no file names is said to be a guess, with the models it could be") {
  const auto guess = [](const std::string& text) {
    Imported imported;
    read_topology_text(text, "f", imported);
    for (const std::string& assumption : cluster_from(*imported.machine, {}).assumptions)
      if (has(assumption, "guess")) return assumption;
    return std::string();
  };
  const std::string hopper = guess(all_to_all(8, "NV18"));
  CHECK(has(hopper, "the GPU model is a guess"));
  CHECK(has(hopper, "fits h100-sxm5-80gb"));
  CHECK(has(hopper, "h200-sxm-141gb"));
  CHECK(has(hopper, "79.65 GiB of memory"));
  CHECK(has(hopper, "the others have"));
  // A tree of PCI classes alone, as cloud images have (a V100 box looks like this one).
  const std::string classes =
      R"(<system version="1"><cpu numaid="0" arch="x86_64"><pci busid="0001:00:00.0" )"
      R"(class="0x030200" link_speed="16 GT/s" link_width="16"/><pci busid="0002:00:00.0" )"
      R"(class="0x030200" link_speed="16 GT/s" link_width="16"/></cpu></system>)";
  CHECK(has(guess(classes), "a100-sxm4-80gb is the default for its PCIe rate; 80 GiB of memory"));
  CHECK(guess(tree(kH100, 7, "mlx5_0")).empty());
}

TEST_CASE("what was read: NVLinks of a GPU behind a switch are counted once") {
  const auto read = [](const std::string& text) {
    Imported imported;
    read_topology_text(text, "f", imported);
    return to_json(imported);
  };
  const auto links = [&](const std::string& text) {
    const std::string json = read(text);
    const auto at = json.find("\"nvlinks_to");
    return at == std::string::npos ? std::string() : json.substr(at, json.find(',', at) - at);
  };
  CHECK(links(all_to_all(8, "NV18")) == "\"nvlinks_to_switch\": 18");
  CHECK(links(all_to_all(4, "NV12")) == "\"nvlinks_to_switch\": 12");
  CHECK(links(all_to_all(4, "NV4")) == "\"nvlinks_to_gpus\": 12");  // direct: three others
  CHECK(links(all_to_all(4, "PHB")) == "\"nvlinks_to_gpus\": 0");
  const std::string classes =
      R"(<system version="1"><cpu numaid="0"><pci busid="0001:00:00.0" class="0x030200"/>)"
      R"(<pci busid="0002:00:00.0" class="0x030200"/></cpu></system>)";
  CHECK(links(classes).empty());  // such a file does not say
}

TEST_CASE("an NVSwitch reduces from Hopper on, and that is said") {
  // PCI devices only, and a matrix of eight that needs a switch.
  const auto devices = [](int gpus, const std::string& device) {
    std::string text = R"(<system version="1"><cpu numaid="0" arch="x86_64">)";
    for (int i = 0; i < gpus; ++i)
      text += fmt::format(R"(<pci busid="0000:{:02x}:00.0" class="0x030200" device="{}"/>)", i + 7,
                          device);
    return text + "</cpu></system>";
  };
  struct Case {
    std::string text;
    bool reduces;
  };
  for (const Case& c : {Case{devices(4, kH100), true}, Case{devices(8, kH100), true},
                        Case{devices(8, "0x2901"), true}, Case{devices(8, kA100), false},
                        Case{all_to_all(8, "NV18"), true}, Case{all_to_all(8, "NV12"), false}}) {
    INFO(c.text);
    Imported imported;
    read_topology_text(c.text, "f", imported);
    const ClusterSpec cluster = cluster_from(*imported.machine, {});
    CHECK(cluster.node.intra.kind == IntraNodeKind::nvswitch);
    CHECK(cluster.node.intra.multicast == c.reduces);
    const std::vector<std::string>& assumed = cluster.assumptions;
    CHECK((std::find(assumed.begin(), assumed.end(),
                     "the NVSwitch is taken to reduce and multicast (NVLS)") != assumed.end()) ==
          c.reduces);
  }
}

TEST_CASE("the switch of every type reduces by its generation") {
  for (const char* type : {"h100-sxm5-80gb", "h20-96gb", "b200-sxm-180gb", "b300-sxm-288gb"}) {
    CHECK(reduces_in_switch(find_gpu_type(type), 8));
    CHECK_FALSE(reduces_in_switch(find_gpu_type(type), 2));
  }
  for (const char* type : {"a100-sxm4-80gb", "v100-sxm3-32gb", "mi300x-192gb", "rtx-5090", "l40s"})
    CHECK_FALSE(reduces_in_switch(find_gpu_type(type), 8));
}

}  // namespace amsp
