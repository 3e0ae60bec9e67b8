// SPDX-License-Identifier: Apache-2.0
#include "calibrate/calibration.hpp"

#include <nlohmann/json.hpp>

#include "base/file.hpp"

namespace amsp {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* format_name = "amsp-calibration-1";

std::vector<CalibrationSource> read_sources(const JsonValue& json) {
  std::vector<CalibrationSource> sources;
  for (const JsonValue& item : json.items()) {
    item.accept_keys({"file", "sha256", "note", "rows_used"});
    sources.push_back({item.at("file").as_string(), item.at("sha256").as_string(),
                       item.at("note").as_string(),
                       static_cast<int>(item.at("rows_used").as_integer(0, 1'000'000'000))});
  }
  return sources;
}

std::vector<RefusedRow> read_refused(const JsonValue& json) {
  std::vector<RefusedRow> refused;
  for (const JsonValue& item : json.items()) {
    item.accept_keys({"file", "place", "reason"});
    refused.push_back(
        {item.at("file").as_string(), item.at("place").as_string(), item.at("reason").as_string()});
  }
  return refused;
}

bool is_flat(const Json& json) {
  for (const Json& item : json) {
    if (item.is_structured()) return false;
  }
  return true;
}

// Objects and arrays that hold only scalars stand on one line, so that a row is a line.
void write_readable(const Json& json, std::size_t depth, std::string& text) {
  if (!json.is_structured() || (depth > 1 && is_flat(json))) {
    text += json.dump(-1, ' ', false, Json::error_handler_t::replace);
    return;
  }
  const std::string indent(depth + 1, ' ');
  text += json.is_object() ? "{" : "[";
  bool first = true;
  for (const auto& [key, value] : json.items()) {
    text += (first ? "\n" : ",\n") + indent;
    if (json.is_object()) text += Json(key).dump() + ": ";
    write_readable(value, depth + 1, text);
    first = false;
  }
  text += first ? "" : "\n" + std::string(depth, ' ');
  text += json.is_object() ? "}" : "]";
}

}  // namespace

ClusterSpec Calibration::made_on() const {
  return own_cluster ? *own_cluster : load_cluster(cluster);
}

Calibration parse_calibration(const JsonValue& json) {
  json.accept_keys(
      {"format", "description", "cluster", "sources", "refused", "collectives", "kernels"});
  const JsonValue format = json.at("format");
  if (format.as_string() != format_name) {
    format.fail(std::string("is not \"") + format_name + "\": this is no calibration file");
  }
  Calibration calibration;
  calibration.description = json.at("description").as_string();
  const JsonValue cluster = json.at("cluster");
  if (cluster.is_string()) {
    calibration.cluster = cluster.as_string();
  } else {
    calibration.own_cluster = parse_cluster(cluster);
  }
  calibration.sources = read_sources(json.at("sources"));
  if (const auto refused = json.find("refused")) calibration.refused = read_refused(*refused);
  if (const auto collectives = json.find("collectives")) {
    calibration.collectives = read_collective_calibration(*collectives, calibration.made_on());
  }
  if (const auto kernels = json.find("kernels")) {
    calibration.kernels = read_kernel_calibration(*kernels);
  }
  return calibration;
}

Calibration load_calibration(const std::filesystem::path& file) {
  return parse_calibration(JsonValue::parse_file(file));
}

std::string to_json(const Calibration& calibration) {
  Json json;
  json["format"] = format_name;
  json["description"] = calibration.description;
  json["cluster"] = calibration.own_cluster ? Json::parse(to_json(*calibration.own_cluster))
                                            : Json(calibration.cluster);
  json["sources"] = Json::array();
  for (const auto& source : calibration.sources) {
    json["sources"].push_back({{"file", source.file},
                               {"sha256", source.sha256},
                               {"note", source.note},
                               {"rows_used", source.rows_used}});
  }
  json["refused"] = Json::array();
  for (const auto& row : calibration.refused) {
    json["refused"].push_back({{"file", row.file}, {"place", row.place}, {"reason", row.reason}});
  }
  if (calibration.collectives) {
    json["collectives"] = Json::parse(to_json(*calibration.collectives));
  }
  if (calibration.kernels) json["kernels"] = Json::parse(to_json(*calibration.kernels));
  std::string text;
  write_readable(json, 0, text);
  return text + "\n";
}

}  // namespace amsp
