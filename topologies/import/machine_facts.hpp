// SPDX-License-Identifier: Apache-2.0
// What topology files say about one machine, before any default is taken. Unknown stays unknown.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.hpp"

namespace amsp {

// PCIe path between two devices, nearest first, in nvidia-smi's words (NCCL's PHB = PHB or NODE).
enum class PathKind { self, pix, pxb, phb, node, sys, unknown };
std::string_view name_of(PathKind path);  // "PIX"; "?" when unknown

struct Relation {
  PathKind path = PathKind::unknown;  // of PCIe; a matrix that shows NV# does not say it
  int nvlinks = -1;                   // direct or through a switch; -1 = unknown
};

struct GpuFact {
  std::string label;                   // "GPU0"
  std::optional<std::string> type;     // catalogue stem
  std::string architecture;            // "sm_80", "gfx942"; empty = unknown
  int multiprocessors = 0;             // 0 = unknown
  std::string cpus;                    // CPU affinity as printed
  std::string numa;                    // NUMA affinity as printed
  std::string gpu_numa;                // GPU NUMA ID as printed
  std::optional<Bandwidth> pcie_rate;  // of its slot, per direction
  int switch_links = 0;                // NVLinks that lead to an NVSwitch
  std::string bus;                     // PCI address; only topology XML has it
};

struct NicFact {
  std::string label;   // "NIC0", "mlx5_0"
  std::string device;  // "mlx5_0"
  std::string numa;
  std::optional<Bandwidth> rate;  // per direction
};

struct MachineFacts {
  std::string source;  // file
  std::vector<GpuFact> gpus;
  std::vector<NicFact> nics;
  std::vector<std::vector<Relation>> gpu_gpu;  // [gpu][gpu]
  std::vector<std::vector<PathKind>> gpu_nic;  // [gpu][nic]
  std::vector<std::vector<PathKind>> nic_nic;  // [nic][nic]
  bool nvswitch = false;                       // the file names an NVSwitch
  std::optional<Bandwidth> socket_rate;        // NCCL's figure for the CPU type
  std::optional<std::string> default_type;     // GPU type that the file's age suggests
  std::string cpu;                             // the CPU type, as far as named
  std::vector<std::string> notes;              // oddities of the file, for the user

  void resize(std::size_t gpu_count, std::size_t nic_count);
};

// Both files are of one machine: what `first` leaves unknown is taken from `second`; what they
// contradict is noted. Throws InputError when they cannot be of one machine: when the numbers of
// GPUs, their types or their PCI addresses differ, or when no NIC is in both.
MachineFacts merged(MachineFacts first, const MachineFacts& second);

}  // namespace amsp
