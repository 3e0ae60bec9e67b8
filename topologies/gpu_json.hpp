// SPDX-License-Identifier: Apache-2.0
// A GPU type as the JSON object that parse_gpu reads.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "topologies/gpu_spec.hpp"

namespace amsp {

nlohmann::ordered_json gpu_json(const GpuSpec& gpu);

}  // namespace amsp
