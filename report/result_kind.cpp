// SPDX-License-Identifier: Apache-2.0
#include "report/result_kind.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.hpp"

namespace amsp {
namespace {

using Json = nlohmann::json;

// At least one object, and nothing else, under the key.
bool has_objects(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_array() && !found->empty() &&
         std::all_of(found->begin(), found->end(),
                     [](const Json& item) { return item.is_object(); });
}

bool has_format(const Json& json, std::string_view format) {
  const auto found = json.find("format");
  return found != json.end() && *found == format;
}

bool has_number(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number();
}

}  // namespace

std::string_view result_kind(const std::string& text, const std::string& path) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded())
    throw InputError({path, ""}, "is not JSON; accepted: " + std::string(kReportable));
  if (!json.is_object()) return "";
  if (has_objects(json, "traceEvents")) return "trace";
  if (has_format(json, "amsp-plan-1") && json.contains("best")) return "plan";
  if (has_format(json, "amsp-reproduction-1") && has_objects(json, "points")) return "reproduction";
  if (has_format(json, "amsp-calibration-1")) return "calibration";
  if (has_objects(json, "runs") || has_number(json, "tgs")) return "results";
  if (has_objects(json, "comparisons") || has_objects(json, "schedules") ||
      has_objects(json, "collectives"))
    return "validation";
  return has_objects(json, "residuals") ? "calibration" : "";
}

}  // namespace amsp
