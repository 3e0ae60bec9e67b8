// SPDX-License-Identifier: Apache-2.0
// What follows from a GPU type's architecture.
#pragma once
#include <optional>
#include <string_view>

#include "topologies/gpu_spec.hpp"

namespace amsp {

// "sm_90" → 90, "sm_103" → 103; none for architectures of other vendors.
std::optional<int> compute_capability(std::string_view architecture);

// Can the NVSwitch between `gpus` GPUs of this type reduce and multicast (NVLink SHARP)? Those of
// Hopper's generation and later can; NCCL uses it from three GPUs on.
bool reduces_in_switch(const GpuType& type, int gpus);

// The NVLinks of this type lead only over a bridge to a partner (PCIe cards).
bool has_bridges_only(const GpuType& type);

// The NICs that servers with this type are commonly built with: HDR beside A100, NDR from Hopper
// on.
Bandwidth usual_nic_rate(const GpuType& type);

// The CPU that a superchip comes with ("NVIDIA Grace"); empty where the type implies none.
std::string_view cpu_of_superchip(const GpuType& type);

}  // namespace amsp
