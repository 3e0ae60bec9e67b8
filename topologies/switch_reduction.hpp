// SPDX-License-Identifier: Apache-2.0
// Which GPU types have an NVSwitch that reduces and multicasts (NVLS).
#pragma once
#include "topologies/gpu_spec.hpp"

namespace amsp {

// For what does not state it: whether the NVSwitch that joins so many GPUs of this type reduces and
// multicasts. Those of Hopper's generation (sm_9x) and newer do; NCCL uses it from three GPUs on.
bool reduces_in_switch(const GpuType& type, int gpus);

}  // namespace amsp
