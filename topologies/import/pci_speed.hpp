// SPDX-License-Identifier: Apache-2.0
// What the words of a topology file mean in bytes per second, and which chip they mean.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/quantity.hpp"

namespace amsp {

// link_speed "16 GT/s", "16.0 GT/s PCIe" with a width in lanes → bytes per second in one direction
// after line coding (8b/10b up to 5 GT/s, 128b/130b from 8 GT/s). Nothing when it is not said, or
// not credible for a GPU (virtual machines show bridges of 2.5 GT/s x1).
std::optional<Bandwidth> pcie_rate(std::string_view link_speed, int lanes);

// Whether the words start with a rate of more than 0, whatever is to be believed of it.
bool is_link_speed(std::string_view link_speed);

struct CpuType {
  std::string name;                      // "Intel Sapphire Rapids"; empty = unknown
  std::optional<Bandwidth> socket_rate;  // between two sockets, NCCL's figure (src/graph/topo.h)
};
CpuType cpu_type(std::string_view arch, std::string_view vendor, int family, int model);

// "908" → "gfx908", "910" → "gfx90a", "940" … "942" → "gfx942"; "" → "".
std::string gfx_name(std::string_view gcn);

}  // namespace amsp
