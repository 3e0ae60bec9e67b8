// SPDX-License-Identifier: Apache-2.0
// Parts of a run as JSON, the same in every file that has them.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "sim/analysis.hpp"

namespace amsp {

// Bytes by component, at the peak.
nlohmann::ordered_json memory_json(const MemoryTimeline& memory);
// Seconds: "total", then by collective.
nlohmann::ordered_json exposed_json(const ExposedCommunication& exposed);

}  // namespace amsp
