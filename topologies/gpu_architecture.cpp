// SPDX-License-Identifier: Apache-2.0
#include "topologies/gpu_architecture.hpp"

#include <charconv>

namespace amsp {

std::optional<int> compute_capability(std::string_view architecture) {
  constexpr std::string_view kPrefix = "sm_";
  if (!architecture.starts_with(kPrefix)) return std::nullopt;
  architecture.remove_prefix(kPrefix.size());
  int value = 0;
  const auto end = architecture.data() + architecture.size();
  if (std::from_chars(architecture.data(), end, value).ec != std::errc()) return std::nullopt;
  return value;
}

bool reduces_in_switch(const GpuType& type, int gpus) {
  // SHARP came into the switch with the third-generation NVSwitch (NVIDIA H100 architecture white
  // paper, 2022); NCCL's NVLS asks for compute capability 9.0.
  constexpr int kHopper = 90;
  return gpus > 2 && type.nvlinks > 0 && !has_bridges_only(type) &&
         compute_capability(type.architecture).value_or(0) >= kHopper;
}

bool has_bridges_only(const GpuType& type) {
  if (type.nvlinks == 0) return false;
  const auto named = [&](std::string_view part) {
    return type.spec.name.find(part) != std::string::npos;
  };
  // AMD's data sheets: MI50 and MI60 (gfx906), MI100 (gfx908) and MI210 are PCIe cards whose
  // Infinity Fabric links lead over a bridge; MI250 (gfx90a, too) and later are modules.
  if (type.architecture == "gfx906" || type.architecture == "gfx908" || named("MI210")) return true;
  const auto capability = compute_capability(type.architecture);
  if (!capability) return false;
  // NVIDIA's data sheets: from Volta on, modules have six links or more, workstation cards and A30
  // two or four; PCIe cards of A100 and H100 and the H100 NVL have twelve, for three bridges.
  return named("PCI") || named("NVL") || (*capability >= 70 && type.nvlinks <= 4);
}

Bandwidth usual_nic_rate(const GpuType& type) {
  const std::string& arch = type.architecture;
  if (arch == "sm_80") return gigabits_per_second(200);
  const bool recent =
      arch.starts_with("sm_9") || arch.starts_with("sm_10") || arch == "gfx942" || arch == "gfx950";
  return gigabits_per_second(recent ? 400 : 100);
}

std::string_view cpu_of_superchip(const GpuType& type) {
  // NVIDIA's data sheets of GH200, GB200 and GB300: Grace, joined to its GPUs by NVLink-C2C.
  for (const std::string_view name : {"GH200", "GB200", "GB300"})
    if (type.spec.name.find(name) != std::string::npos) return "NVIDIA Grace";
  return {};
}

}  // namespace amsp
