// SPDX-License-Identifier: Apache-2.0
#include "topologies/gpu_json.hpp"

#include <nlohmann/json.hpp>

#include "base/units_text.hpp"

namespace amsp {
namespace {

using Json = nlohmann::ordered_json;

Json rates_json(const std::map<Dtype, FlopRate>& rates) {
  Json json = Json::object();
  for (const auto& [dtype, rate] : rates) json[std::string(name_of(dtype))] = to_text(rate);
  return json;
}

}  // namespace

Json gpu_json(const GpuSpec& gpu) {
  Json json = {{"name", gpu.name},
               {"memory", to_text(gpu.memory)},
               {"hbm", to_text(gpu.hbm)},
               {"peak", rates_json(gpu.peak)}};
  if (!gpu.achievable.empty()) json["achievable"] = rates_json(gpu.achievable);
  if (gpu.attention)
    json["achievable_attention"] = {{"forward", to_text(gpu.attention->forward)},
                                    {"backward", to_text(gpu.attention->backward)}};
  json["multiprocessors"] = gpu.multiprocessors;
  return json;
}

}  // namespace amsp
