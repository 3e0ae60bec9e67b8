// SPDX-License-Identifier: Apache-2.0
#include "topologies/import/pci_speed.hpp"

#include <charconv>
#include <string>

namespace amsp {
namespace {

// A data-centre GPU or NIC has at least PCIe gen 3 x4; less is a virtual bridge.
constexpr Bandwidth kLeastCredible(3.9e9);

CpuType intel(int family, int model) {
  // Family and model numbers of Linux' intel-family.h; rates of NCCL's topo.h, which takes whatever
  // is not of family 6 for Broadwell. A file without the family says nothing: Skylake, as
  // elsewhere.
  if (family == 0) return {"Intel", gigabytes_per_second(10)};
  if (family != 6) return {"Intel, not of family 6", gigabytes_per_second(6)};
  if (model >= 0xCF) return {"Intel Emerald Rapids or later", gigabytes_per_second(40)};
  if (model >= 0x8F) return {"Intel Sapphire Rapids", gigabytes_per_second(22)};
  if (model >= 0x55) return {"Intel Skylake to Ice Lake", gigabytes_per_second(10)};
  return {"Intel Broadwell or earlier", gigabytes_per_second(6)};
}

// GT/s; 0 where the words are none.
double transfers_of(std::string_view link_speed) {
  double transfers = 0;
  const auto [end, error] =
      std::from_chars(link_speed.data(), link_speed.data() + link_speed.size(), transfers);
  return error == std::errc() && transfers > 0 && transfers <= 1000 ? transfers : 0;
}

}  // namespace

bool is_link_speed(std::string_view link_speed) { return transfers_of(link_speed) > 0; }

std::optional<Bandwidth> pcie_rate(std::string_view link_speed, int lanes) {
  const double transfers = transfers_of(link_speed);
  if (!(transfers > 0) || lanes < 1) return std::nullopt;
  const double coding = transfers < 8 ? 8.0 / 10 : 128.0 / 130;
  const Bandwidth rate = gigabits_per_second(transfers * coding * lanes);
  return rate < kLeastCredible ? std::nullopt : std::optional(rate);
}

CpuType cpu_type(std::string_view arch, std::string_view vendor, int family, int model) {
  if (vendor == "GenuineIntel") return intel(family, model);
  if (vendor == "AuthenticAMD" || vendor == "HygonGenuine")
    return {"AMD or Hygon", gigabytes_per_second(16)};
  if (vendor.find("hanghai") != std::string_view::npos || vendor == "CentaurHauls")
    return {"Zhaoxin", gigabytes_per_second(6)};
  if (arch == "arm64" || arch == "aarch64") return {"Arm", gigabytes_per_second(6)};
  if (arch == "ppc64") return {"POWER9", gigabytes_per_second(32)};
  return {};
}

std::string gfx_name(std::string_view gcn) {
  if (gcn.starts_with("gfx")) gcn.remove_prefix(3);
  if (gcn.empty()) return "";
  if (gcn == "910") return "gfx90a";
  if (gcn == "940" || gcn == "941") return "gfx942";
  return "gfx" + std::string(gcn.substr(0, 8));
}

}  // namespace amsp
