// SPDX-License-Identifier: Apache-2.0
// Which devices share a PCIe switch, and which a socket, from their pairwise paths.
#pragma once
#include <string>
#include <vector>

#include "topologies/import/machine_facts.hpp"

namespace amsp {

class DeviceSets;

// Switch: devices joined by PIX or PXB. Socket (NUMA node): joined by PIX, PXB, PHB or NODE, or by
// equal NUMA (else CPU) affinity. NICs that are SYS from every GPU stand on the socket of their
// NUMA node, else are spread over those of the GPUs. What else nothing joins stands on a socket of
// its own; devices of which a cut file tells only what they are far from share one.
class DeviceGroups {
 public:
  explicit DeviceGroups(const MachineFacts& facts);
  [[nodiscard]] int sockets() const { return sockets_; }
  [[nodiscard]] int socket_of_gpu(std::size_t gpu) const { return socket_[gpu]; }
  [[nodiscard]] int socket_of_nic(std::size_t nic) const { return socket_[gpus_ + nic]; }
  [[nodiscard]] int switch_of_gpu(std::size_t gpu) const { return switch_[gpu]; }  // -1 = none
  [[nodiscard]] int switch_of_nic(std::size_t nic) const { return switch_[gpus_ + nic]; }
  [[nodiscard]] const std::vector<int>& switch_sockets() const { return switch_socket_; }
  // GPUs that have no nearer NIC than this one (none where all NICs are equally far).
  [[nodiscard]] std::vector<int> gpus_nearest_to(std::size_t nic) const;
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  [[nodiscard]] PathKind path(std::size_t a, std::size_t b) const;
  [[nodiscard]] std::string affinity(std::size_t device) const;
  [[nodiscard]] std::string label(std::size_t device) const;
  [[nodiscard]] bool is_far(std::size_t device) const;  // SYS from some other device
  void place_unknown(std::size_t device, const std::vector<bool>& connected, DeviceSets& sets);
  [[nodiscard]] bool is_apart(std::size_t device) const;  // a NIC that is SYS from every GPU
  void spread_apart(std::vector<bool>& connected, DeviceSets& sets);
  bool place_by_numa(const std::vector<std::size_t>& group, DeviceSets& sets) const;
  void join_far(const std::vector<bool>& connected, DeviceSets& sets);
  void find_switches();
  void find_sockets();

  const MachineFacts& facts_;
  std::size_t gpus_, devices_;
  int sockets_ = 0;
  std::vector<int> socket_, switch_, switch_socket_;
  std::vector<bool> spread_;  // devices whose socket is an assumption against SYS
  std::vector<std::string> notes_;
};

}  // namespace amsp
