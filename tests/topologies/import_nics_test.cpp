// SPDX-License-Identifier: Apache-2.0
// NICs of two files of one machine: numbered ones, other rates; and models that a tree contradicts.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "topologies/import/import.hpp"
#include "topologies/import/merged_nics.hpp"

namespace amsp {
namespace {

// The machine: `pairs` GPUs, each with its own NIC under one switch, half of them on each socket.
struct Machine {
  int pairs = 4;
  int nics = 4;       // of the first GPUs
  int rate = 400000;  // Mb/s
  const char* sm = "90";
};

std::string tree(const Machine& of) {
  std::string text = R"(<system version="1">)";
  for (const int socket : {0, 1}) {
    text += fmt::format(R"(<cpu numaid="{}" arch="x86_64" vendor="GenuineIntel">)", socket);
    for (int i = socket * of.pairs / 2; i < (socket + 1) * of.pairs / 2; ++i) {
      text += fmt::format(R"(<pci busid="0000:{0:02x}:00.0" class="0x060400">)"
                          R"(<pci busid="0000:{0:02x}:01.0" class="0x030200" device="0x2330">)"
                          R"(<gpu dev="{1}" sm="{2}"/></pci>)",
                          16 * (i + 1), i, of.sm);
      if (i < of.nics)
        text += fmt::format(R"(<pci busid="0000:{:02x}:02.0" class="0x020700"><nic>)"
                            R"(<net name="mlx5_{}" speed="{}" port="1"/></nic></pci>)",
                            16 * (i + 1), i, of.rate);
      text += "</pci>";
    }
    text += "</cpu>";
  }
  return text + "</system>";
}

// As nvidia-smi prints the same machine; without a legend when `legend` is 0, else with so many
// lines of it. `rows`: the text ends after so many.
std::string matrix(int pairs, int rows, int legend = 0) {
  const auto word = [&](int a, int b) {
    const bool same = a % pairs == b % pairs;
    if (a == b) return "X";
    if (a < pairs && b < pairs) return "NV18";
    if (same) return "PIX";
    return (a % pairs) / (pairs / 2) == (b % pairs) / (pairs / 2) ? "NODE" : "SYS";
  };
  const auto name = [&](int i) {
    return i < pairs ? fmt::format("GPU{}", i) : fmt::format("NIC{}", i - pairs);
  };
  std::string text;
  for (int i = 0; i < 2 * pairs; ++i) text += "\t" + name(i);
  for (int i = 0; i < rows; ++i) {
    text += "\n" + name(i);
    for (int j = 0; j < 2 * pairs; ++j) text += std::string("\t") + word(i, j);
  }
  if (legend > 0) text += "\n\nNIC Legend:\n";
  for (int i = 0; i < legend; ++i) text += fmt::format("\n  NIC{0}: mlx5_{0}", i);
  return text + "\n";
}

MachineFacts both(const std::string& first, const std::string& second) {
  Imported imported;
  read_topology_text(first, "first", imported);
  read_topology_text(second, "second", imported);
  return *imported.machine;
}

std::string notes_of(const MachineFacts& facts) {
  std::string text;
  for (const std::string& note : facts.notes) text += note + "\n";
  return text;
}

bool says(const MachineFacts& facts, const std::string& part) {
  return notes_of(facts).find(part) != std::string::npos;
}

// Each GPU has one NIC nearest, named as the machine has it.
void check_pairs(const MachineFacts& facts, std::size_t pairs) {
  INFO(notes_of(facts));
  REQUIRE(facts.nics.size() == pairs);
  for (const NicFact& nic : facts.nics) {
    CHECK(nic.device.starts_with("mlx5_"));
    CHECK(nic.rate == gigabits_per_second(400));
  }
  for (std::size_t gpu = 0; gpu < pairs; ++gpu)
    for (std::size_t nic = 0; nic < pairs; ++nic)
      CHECK((facts.gpu_nic[gpu][nic] == PathKind::pix) ==
            (facts.nics[nic].device == fmt::format("mlx5_{}", gpu)));
}

}  // namespace

TEST_CASE("names that only number NICs") {
  CHECK(is_numbered_nic("NIC0"));
  CHECK(is_numbered_nic("nic12"));
  for (const char* name : {"mlx5_0", "NIC", "nic_a", "NIC0#2", "nic1f0"})
    CHECK_FALSE(is_numbered_nic(name));
}

TEST_CASE("NICs of a matrix without a legend are a tree's, in order and at their places") {
  const Machine machine;
  for (const int rows : {8, 4, 2}) {  // whole, without the NICs' rows, cut after two GPUs
    const std::string shown = matrix(4, rows);
    for (const MachineFacts& facts : {both(shown, tree(machine)), both(tree(machine), shown)}) {
      check_pairs(facts, 4);
      CHECK(says(facts, "without a legend; in order"));
      CHECK(says(facts, "NIC0 = mlx5_0, NIC1 = mlx5_1, NIC2 = mlx5_2, NIC3 = mlx5_3"));
      CHECK_FALSE(says(facts, "only"));
    }
  }
}

TEST_CASE("NICs that the matrix numbers in another order are matched by their places") {
  // The NICs' columns and their numbers from the last to the first.
  std::string mirrored = matrix(4, 4);
  std::size_t at = mirrored.find('\n');
  for (int gpu = 0; gpu < 4; ++gpu) {
    const std::size_t end = mirrored.find('\n', at + 1);
    std::string cells;
    for (int nic = 3; nic >= 0; --nic)
      cells += nic == gpu ? "\tPIX" : nic / 2 == gpu / 2 ? "\tNODE" : "\tSYS";
    mirrored.replace(end - cells.size(), cells.size(), cells);
    at = end;
  }
  const MachineFacts facts = both(mirrored, tree(Machine{}));
  check_pairs(facts, 4);
  CHECK(says(facts, "NIC0 = mlx5_3, NIC1 = mlx5_2, NIC2 = mlx5_1, NIC3 = mlx5_0"));
}

TEST_CASE("of a part of a legend the rest is matched") {
  const MachineFacts facts = both(matrix(4, 8, 2), tree(Machine{}));
  check_pairs(facts, 4);
  CHECK(says(facts, ": NIC2 = mlx5_2, NIC3 = mlx5_3"));
  CHECK_FALSE(says(both(matrix(4, 8, 4), tree(Machine{})), "legend"));
}

TEST_CASE("another number of NICs, or at other places: the tree's are taken") {
  Machine fewer;
  fewer.nics = 3;
  for (const MachineFacts& facts :
       {both(matrix(4, 8), tree(fewer)), both(tree(fewer), matrix(4, 8))}) {
    INFO(notes_of(facts));
    REQUIRE(facts.nics.size() == 3);
    for (const NicFact& nic : facts.nics) CHECK(nic.device.starts_with("mlx5_"));
    CHECK(facts.gpu_nic[3] == std::vector<PathKind>{PathKind::sys, PathKind::sys, PathKind::phb});
    CHECK(says(facts, "(4 that match no name: NIC0 NIC1 NIC2 NIC3)"));
    CHECK(says(facts, "names 3 more, another number"));
  }
  // No NIC of the matrix is near a GPU, all of the tree are.
  std::string elsewhere = matrix(4, 4);
  for (std::size_t at = 0; (at = elsewhere.find("PIX", at)) != std::string::npos; ++at)
    elsewhere.replace(at, 3, "SYS");
  const MachineFacts facts = both(elsewhere, tree(Machine{}));
  check_pairs(facts, 4);
  CHECK(says(facts, "at other places"));
  // Without any NIC in the tree the matrix's stay.
  Machine none;
  none.nics = 0;
  CHECK(both(matrix(4, 8), tree(none)).nics.size() == 4);
}

TEST_CASE("files that state other rates of one NIC") {
  Machine slower;
  slower.rate = 200000;
  const MachineFacts facts = both(tree(Machine{}), tree(slower));
  INFO(notes_of(facts));
  CHECK(facts.nics[3].rate == gigabits_per_second(400));
  CHECK(says(facts,
             "first and second disagree on the rate of mlx5_0 mlx5_1 mlx5_2 mlx5_3: 400 Gb/s and "
             "200 Gb/s; 400 Gb/s is taken"));
  CHECK(both(tree(slower), tree(Machine{})).nics[0].rate == gigabits_per_second(200));
  CHECK_FALSE(says(both(tree(slower), tree(slower)), "disagree"));
}

TEST_CASE("a tree whose PCI device and sm are of two models") {
  Imported imported;
  Machine odd;
  odd.sm = "100";
  read_topology_text(tree(odd), "odd.xml", imported);
  CHECK(says(*imported.machine,
             "odd.xml: PCI device 0x2330 is h100-sxm5-80gb (sm_90), but the file states sm_100 for "
             "GPU0 GPU1 GPU2 GPU3; the PCI device is believed"));
  Imported sound;
  read_topology_text(tree(Machine{}), "sound.xml", sound);
  CHECK_FALSE(says(*sound.machine, "believed"));
}

}  // namespace amsp
