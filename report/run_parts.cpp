// SPDX-License-Identifier: Apache-2.0
#include "report/run_parts.hpp"

#include <nlohmann/json.hpp>

namespace amsp {

nlohmann::ordered_json memory_json(const MemoryTimeline& memory) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const auto& [component, bytes] : memory.at_peak)
    json[std::string(name_of(component))] = bytes.value();
  return json;
}

nlohmann::ordered_json exposed_json(const ExposedCommunication& exposed) {
  nlohmann::ordered_json json{{"total", exposed.total.value()}};
  for (const auto& [kind, time] : exposed.by_collective) json[kind] = time.value();
  return json;
}

}  // namespace amsp
