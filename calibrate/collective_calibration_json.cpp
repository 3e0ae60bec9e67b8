// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/units_text.hpp"
#include "calibrate/collective_calibration.hpp"

namespace amsp {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 3> collnet_uses{"never", "by_tuner", "always"};

// CollNet's own parameters, the last ones, are written where it was measured.
std::size_t written_parameters(CollnetUse use) {
  return use == CollnetUse::never ? parameters_without_collnet : parameter_count;
}

std::string value_text(Parameter parameter, const PhysicsParameters& parameters) {
  const double value = parameters[parameter];
  switch (unit_of(parameter)) {
    case ParameterUnit::seconds:
      return to_text(Seconds(value));
    case ParameterUnit::bytes_per_second:
      return to_text(Bandwidth(value));
    case ParameterUnit::bytes:
      return to_text(Bytes(value));
    case ParameterUnit::ratio:
      break;
  }
  return "";
}

Json parameters_json(const KindFit& fit, std::size_t count) {
  Json json;
  for (std::size_t j = 0; j < count; ++j) {
    const auto parameter = static_cast<Parameter>(j);
    const std::string text = value_text(parameter, fit.parameters);
    // 90 % interval, as a factor either way of the value.
    const double factor =
        std::exp(CurveValue::z90 * std::sqrt(std::max(0.0, fit.covariance[j][j])));
    json[std::string(name_of(parameter))] = {
        {"value", text.empty() ? Json(fit.parameters[parameter]) : Json(text)},
        {"interval_factor", std::round(factor * 1e4) / 1e4}};
  }
  return json;
}

Json covariance_json(const Covariance& covariance, std::size_t count) {
  Json rows = Json::array();
  for (std::size_t j = 0; j < count; ++j) {
    std::string row;
    for (std::size_t k = 0; k <= j; ++k) {
      row += fmt::format("{}{:.3g}", k == 0 ? "" : " ", covariance[j][k]);
    }
    rows.push_back(row);
  }
  return rows;
}

Covariance read_covariance(const JsonValue& json, std::size_t count) {
  Covariance covariance{};
  const auto rows = json.items();
  if (rows.size() != count) json.fail("needs one row for each parameter");
  for (std::size_t j = 0; j < count; ++j) {
    const std::string text = rows[j].as_string();
    const char* place = text.c_str();
    for (std::size_t k = 0; k <= j; ++k) {
      char* end = nullptr;
      const double value = std::strtod(place, &end);
      if (end == place || !std::isfinite(value)) rows[j].fail("needs a row of a lower triangle");
      covariance[j][k] = covariance[k][j] = value;
      place = end;
    }
    if (*place != '\0') rows[j].fail("has more values than a row of a lower triangle");
  }
  return covariance;
}

PhysicsParameters read_parameters(const JsonValue& json, PhysicsParameters parameters,
                                  std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t j = 0; j < count; ++j) {
    names.emplace_back(name_of(static_cast<Parameter>(j)));
  }
  json.accept_keys(names);
  for (std::size_t j = 0; j < count; ++j) {
    if (!json.find(names[j])) {
      json.fail(
          fmt::format("has no {}: written by another version of amsp; calibrate again", names[j]));
    }
    const JsonValue entry = json.at(names[j]);
    entry.accept_keys({"value", "interval_factor"});
    const JsonValue value = entry.at("value");
    double& to = parameters.values[j];
    switch (unit_of(static_cast<Parameter>(j))) {
      case ParameterUnit::seconds:
        to = value.as_seconds().value();
        break;
      case ParameterUnit::bytes_per_second:
        to = value.as_bandwidth().value();
        break;
      case ParameterUnit::bytes:
        to = value.as_bytes().value();
        break;
      case ParameterUnit::ratio:
        to = value.as_number(1e-9, 1e9);
    }
    if (!(to > 0)) value.fail("must be above zero");
  }
  return parameters;
}

// `predicted` and its interval are for readers that draw the fit: reading the file works them out
// anew.
Json row_json(const Observation& row, double trust, const CurveValue& predicted) {
  return {{"ranks", row.shape.ranks},
          {"nodes", row.shape.nodes},
          {"ranks_per_node", row.shape.ranks_per_node},
          {"nics", row.shape.nics_per_node},
          {"bytes", to_text(row.bytes)},
          {"time", to_text(row.time)},
          {"predicted", fmt::format("{:.5g}s", predicted.time.value())},
          {"interval_factor", std::round(predicted.factor90() * 1e4) / 1e4},
          {"trust", std::round(trust * 1e3) / 1e3},
          {"source", row.source},
          {"place", row.place}};
}

Observation read_row(const JsonValue& json, CollectiveKind kind) {
  json.accept_keys({"ranks", "nodes", "ranks_per_node", "nics", "bytes", "time", "predicted",
                    "interval_factor", "trust", "source", "place"});
  Observation row;
  row.kind = kind;
  const auto whole = [&](const char* key, int low) {
    return static_cast<int>(json.at(key).as_integer(low, 100'000'000));
  };
  row.shape = {whole("ranks", 2), whole("ranks_per_node", 1), whole("nodes", 1), whole("nics", 0)};
  row.bytes = json.at("bytes").as_bytes();
  row.time = json.at("time").as_seconds();
  row.source = json.at("source").as_string();
  row.place = json.at("place").as_string();
  if (!(row.bytes > Bytes(0))) json.at("bytes").fail("must be above zero");
  if (!(row.time > Seconds(0))) json.at("time").fail("must be above zero");
  return row;
}

Json fit_json(const CollectiveCalibration& calibration, const KindFit& fit) {
  Json json;
  const std::size_t count = written_parameters(calibration.hardware.collnet);
  json["parameters"] = parameters_json(fit, count);
  json["covariance"] = covariance_json(fit.covariance, count);
  json["spread"] = fit.spread;
  json["interval_factor"] = fit.interval_factor;
  json["small_interval_factor"] = fit.small_interval_factor;
  json["most_deviation"] = fit.most_deviation;
  json["small_most_deviation"] = fit.small_most_deviation;
  json["scale_growth"] = fit.scale_growth;
  if (fit.rows.empty()) return json;
  const Kernel3& kernel = fit.correction.kernel();
  json["correction"] = {{"rotation", fit.rotation},
                        {"length", kernel.length},
                        {"amplitude", kernel.amplitude},
                        {"noise", kernel.noise},
                        {"line_share", fit.line_share}};
  json["rows"] = Json::array();
  for (std::size_t i = 0; i < fit.rows.size(); ++i) {
    const Observation& row = fit.rows[i];
    const CurveValue value = calibration.at(row.kind, row.bytes, row.shape);
    json["rows"].push_back(row_json(row, fit.trust[i], value));
  }
  return json;
}

KindFit read_fit(const JsonValue& json, CollectiveKind kind,
                 const CollectiveCalibration& calibration) {
  json.accept_keys({"parameters", "covariance", "spread", "interval_factor",
                    "small_interval_factor", "most_deviation", "small_most_deviation",
                    "scale_growth", "correction", "rows"});
  KindFit fit;
  fit.kind = kind;
  const std::size_t count = written_parameters(calibration.hardware.collnet);
  fit.parameters = read_parameters(json.at("parameters"), calibration.defaults, count);
  fit.covariance = read_covariance(json.at("covariance"), count);
  fit.spread = json.at("spread").as_number(1e-6, 10);
  fit.interval_factor = json.at("interval_factor").as_number(1, 100);
  fit.small_interval_factor = json.at("small_interval_factor").as_number(1, 100);
  fit.most_deviation = json.at("most_deviation").as_number(0, 10);
  fit.small_most_deviation = json.at("small_most_deviation").as_number(0, 10);
  fit.scale_growth = json.at("scale_growth").as_number(0, 10);
  const auto rows = json.find("rows");
  if (!rows) return fit;
  for (const JsonValue& row : rows->items()) {
    fit.rows.push_back(read_row(row, kind));
    fit.trust.push_back(row.at("trust").as_number(0, 1));
  }
  const JsonValue correction = json.at("correction");
  correction.accept_keys({"rotation", "length", "amplitude", "noise", "line_share"});
  fit.rotation = correction.at("rotation").as_number(0, 1);
  if (const auto share = correction.find("line_share")) fit.line_share = share->as_number(0, 1);
  Kernel3 kernel;
  for (const JsonValue& length : correction.at("length").items()) {
    kernel.length.push_back(length.as_number(1e-6, 1e6));
  }
  if (kernel.length.size() != 4) correction.at("length").fail("needs four lengths");
  kernel.amplitude = correction.at("amplitude").as_number(0, 10);
  kernel.noise = correction.at("noise").as_number(1e-6, 10);
  fit.correction = make_correction(fit, kernel, calibration.hardware);
  return fit;
}

NcclVersion read_nccl(const JsonValue& json) {
  const auto text = json.find("nccl_version");
  if (!text) return assumed_nccl;
  const auto version = parse_nccl_version(text->as_string());
  if (!version || *version < NcclVersion{1, 0, 0})
    text->fail("is no version of NCCL; accepted: MAJOR.MINOR.PATCH, such as 2.23.4");
  return *version;
}

}  // namespace

std::string to_json(const CollectiveCalibration& calibration) {
  Json json;
  json["ll128_across"] = calibration.hardware.ll128_across;
  if (calibration.hardware.collnet != CollnetUse::never) {
    json["collnet"] = collnet_uses[static_cast<std::size_t>(calibration.hardware.collnet)];
  }
  if (calibration.hardware.nccl != assumed_nccl) {
    json["nccl_version"] = to_text(calibration.hardware.nccl);
  }
  json["all_kinds"] = fit_json(calibration, calibration.system);
  json["kinds"] = Json::object();
  for (const KindFit& fit : calibration.kinds) {
    json["kinds"][std::string(name_of(fit.kind))] = fit_json(calibration, fit);
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

CollectiveCalibration read_collective_calibration(const JsonValue& json,
                                                  const ClusterSpec& cluster) {
  json.accept_keys({"ll128_across", "collnet", "nccl_version", "all_kinds", "kinds"});
  CollectiveCalibration calibration;
  calibration.hardware = hardware_of(cluster);
  calibration.hardware.ll128_across = json.at("ll128_across").as_bool();
  if (const auto use = json.find("collnet")) {
    const std::vector<std::string> uses(collnet_uses.begin(), collnet_uses.end());
    calibration.hardware.collnet = static_cast<CollnetUse>(use->as_one_of("use of CollNet", uses));
  }
  calibration.hardware.nccl = read_nccl(json);
  calibration.defaults = default_parameters(cluster);
  calibration.system = read_fit(json.at("all_kinds"), CollectiveKind::all_reduce, calibration);
  for (const auto& [name, entry] : json.at("kinds").members()) {
    const CollectiveKind kind = parse_collective_kind(name, entry.place());
    calibration.kinds.push_back(read_fit(entry, kind, calibration));
    if (calibration.kinds.back().rows.empty()) entry.fail("has no rows");
  }
  return calibration;
}

}  // namespace amsp
