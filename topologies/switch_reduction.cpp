// SPDX-License-Identifier: Apache-2.0
#include "topologies/switch_reduction.hpp"

#include <charconv>

namespace amsp {
namespace {

// SHARP came into the switch with the third-generation NVSwitch (NVIDIA H100 architecture white
// paper, 2022); NCCL's NVLS asks for compute capability 9.0.
constexpr int kFirstCapability = 90;
constexpr int kFewestGpus = 3;

// "sm_103": 103; 0 for other makers.
int compute_capability(std::string_view architecture) {
  constexpr std::string_view prefix = "sm_";
  if (!architecture.starts_with(prefix)) return 0;
  architecture.remove_prefix(prefix.size());
  int value = 0;
  std::from_chars(architecture.data(), architecture.data() + architecture.size(), value);
  return value;
}

}  // namespace

bool reduces_in_switch(const GpuType& type, int gpus) {
  return type.nvlinks > 0 && gpus >= kFewestGpus &&
         compute_capability(type.architecture) >= kFirstCapability;
}

}  // namespace amsp
