// SPDX-License-Identifier: Apache-2.0
#include "topologies/import/nvlink_domain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/counted.hpp"
#include "base/error.hpp"
#include "topologies/gpu_architecture.hpp"

namespace amsp {
namespace {

constexpr int kMostGpus = 576;  // of a domain of fifth-generation NVLink (NVIDIA's brief)

// NICs of a CPU without GPUs, and their PCIe switches, are reached over the CPU of the first:
// sockets are not joined.
void move_to_gpus(NodeSpec& node, std::vector<std::string>& assumptions) {
  std::set<int> with_gpu;
  for (int slot = 0; slot < node.gpus; ++slot) with_gpu.insert(node.socket_of_slot(slot));
  const int home = node.socket_of_slot(0);
  std::string moved;
  for (NicSpec& nic : node.nics) {
    if (with_gpu.contains(nic.socket)) continue;
    nic.socket = home;
    moved += " " + nic.name;
  }
  for (int& socket : node.switch_socket)
    if (!with_gpu.contains(socket)) socket = home;
  if (!moved.empty())
    assumptions.push_back("NICs of a CPU without GPUs are put on that of GPU 0:" + moved);
}

void add_tray(const NodeSpec& tray, int number, NodeSpec& node) {
  const int gpus = number * tray.gpus, sockets = number * tray.sockets();
  const int switches = number * static_cast<int>(tray.switch_socket.size());
  for (int slot = 0; slot < tray.gpus; ++slot) {
    node.gpu_socket.push_back(sockets + tray.socket_of_slot(slot));
    if (tray.gpu_switch.empty()) continue;
    const int own = tray.switch_of_slot(slot);
    node.gpu_switch.push_back(own < 0 ? own : switches + own);
  }
  for (const int socket : tray.switch_socket) node.switch_socket.push_back(sockets + socket);
  for (const auto& [slot, rate] : tray.intra.slower_gpus)
    node.intra.slower_gpus[gpus + slot] = rate;
  for (NicSpec nic : tray.nics) {
    nic.name = fmt::format("tray{}-{}", number, nic.name);
    nic.socket += sockets;
    if (nic.pcie_switch >= 0) nic.pcie_switch += switches;
    for (int& slot : nic.gpus) slot += gpus;
    node.nics.push_back(std::move(nic));
  }
}

}  // namespace

bool is_tray(const MachineFacts& facts, const GpuType& type, const NodeSpec& node) {
  if (node.intra.kind != IntraNodeKind::nvswitch || node.gpus > 4) return false;
  const bool grace =
      !cpu_of_superchip(type).empty() || facts.cpu == "Arm" || !facts.gpus.front().gpu_numa.empty();
  return grace && type.architecture.starts_with("sm_10");
}

NodeSpec joined_by_nvswitch(const NodeSpec& given, int trays, const std::string& source,
                            std::vector<std::string>& assumptions) {
  if (given.intra.kind != IntraNodeKind::nvswitch)
    throw InputError({source, ""}, "shows no GPUs behind an NVSwitch, which --nvlink-domain joins");
  if (trays * given.gpus > kMostGpus)
    throw InputError({"command line", "--nvlink-domain"},
                     fmt::format("{} machines of {} are more than the {} of an NVLink domain",
                                 trays, counted(given.gpus, "GPU"), counted(kMostGpus, "GPU")));
  NodeSpec tray = given;
  move_to_gpus(tray, assumptions);
  NodeSpec node = tray;
  node.gpus = trays * tray.gpus;
  node.intra.slower_gpus.clear();
  node.gpu_socket.clear();
  node.gpu_switch.clear();
  node.switch_socket.clear();
  node.nics.clear();
  node.socket_rate = Bandwidth(0);
  for (int number = 0; number < trays; ++number) add_tray(tray, number, node);
  assumptions.push_back(fmt::format(
      "{} machines share one NVSwitch (--nvlink-domain) and are one node of {}, whose sockets "
      "are not joined: a NIC of another CPU is reached over NVLink and that CPU's GPU (NCCL's PXN)",
      trays, counted(node.gpus, "GPU")));
  return node;
}

}  // namespace amsp
