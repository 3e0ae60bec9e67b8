// SPDX-License-Identifier: Apache-2.0
#include "scenarios/scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/file.hpp"
#include "base/output_path.hpp"
#include "workloads/generator.hpp"

namespace amsp {
namespace {

constexpr int kMostGpus = 1 << 20;
// Beyond these a calibration is of another GPU, or a unit was mistaken.
constexpr double kLeastEfficiency = 0.1, kMostEfficiency = 10;

constexpr std::array<std::string_view, 8> kPublishedJob{"cluster",
                                                        "model",
                                                        "training",
                                                        "strategy",
                                                        "perturbations.slow_gpus",
                                                        "perturbations.degraded",
                                                        "perturbations.failed",
                                                        "perturbations.placement"};

std::vector<int> read_gpus(const JsonValue& value) {
  const auto one = [](const JsonValue& item) {
    return static_cast<int>(item.as_integer(1, kMostGpus));
  };
  if (!value.is_array()) return {one(value)};
  std::vector<int> gpus;
  for (const JsonValue& item : value.items()) gpus.push_back(one(item));
  if (gpus.empty()) value.fail("must name at least one number of GPUs");
  return gpus;
}

ReferenceKey read_reference(const JsonValue& value) {
  value.accept_keys({"system", "model"});
  return {value.at("system").as_string(), value.at("model").as_string()};
}

// What `load` makes of a name or of a path that is relative to the scenario's file; what is wrong
// with it is said with the scenario's file and key.
template <class Load>
auto named(const JsonValue& value, Load load) {
  const std::string name = beside(value.place().file, value.as_string());
  try {
    return load(name);
  } catch (const InputError& error) {
    value.fail(error.what());
  }
}

// A cluster or a model may be a name, a path, or the object itself.
ClusterSpec read_cluster(const JsonValue& value) {
  return value.is_object() ? parse_cluster(value) : named(value, load_cluster);
}

ModelShape read_model(const JsonValue& value) {
  return value.is_object() ? parse_model(value, "inline") : named(value, load_model);
}

std::string read_calibration(const JsonValue& value) {
  if (value.is_null()) return "";
  return named(value, [](const std::string& name) {
    resolve_data("calibration", "calibrate/data", name);
    return name;
  });
}

// Paths on the command line are relative to where we are: as the scenario's file would say them.
std::string as_in_file(const std::filesystem::path& scenario, const std::string& key,
                       std::string value) {
  const std::filesystem::path path(value);
  const bool names_file = key == "cluster" || key == "model" || key == "calibration" ||
                          key == "perturbations.placement";
  if (!names_file || !scenario.has_parent_path() || beside("x/y", value) == value) return value;
  return std::filesystem::relative(path, scenario.parent_path()).string();
}

void note_inputs(Scenario& scenario) {
  scenario.inputs.push_back({"cluster", scenario.cluster.name, scenario.cluster.hash});
  scenario.inputs.push_back({"model", scenario.model.name, scenario.model.hash});
  if (scenario.calibration.empty()) return;
  const auto file = resolve_data("calibration", "calibrate/data", scenario.calibration);
  scenario.inputs.push_back({"calibration", file.stem().string(), sha256(read_file(file))});
}

// A strategy that is a preset's name, as an object, so that one of its values can be set.
JsonValue with_strategy_object(const JsonValue& json) {
  const auto strategy = json.find("strategy");
  if (!strategy || !strategy->is_string()) return json;
  return json.with("strategy", fmt::format(R"({{"preset": {}}})", strategy->dump()));
}

// What a published result is of: not how it is predicted (calibration, compute_efficiency), nor the
// GPUs, as each number of them has rows of its own.
std::vector<std::string> published_job(JsonValue json) {
  // A preset's name and an object with nothing else are one strategy; a reserve takes no time.
  json = with_strategy_object(json);
  if (const auto training = json.find("training"); training && training->is_object())
    json = json.with("training.memory_reserve", "0B");
  std::vector<std::string> parts;
  for (const std::string_view key : kPublishedJob) {
    const auto dot = key.find('.');
    auto value = json.find(key.substr(0, dot));
    if (value && dot != std::string_view::npos)
      value = value->is_object() ? value->find(key.substr(dot + 1)) : std::nullopt;
    parts.push_back(value ? value->dump() : "");
  }
  return parts;
}

// The reference is that of the file as it is, unless the user names one.
void drop_reference_of_another_job(Scenario& scenario, const JsonValue& file,
                                   const JsonValue& set) {
  if (!scenario.reference) return;
  const auto reference = file.find("reference");
  if (!reference || reference->dump() != set.at("reference").dump()) return;
  const std::vector<std::string> before = published_job(file), after = published_job(set);
  for (std::size_t i = 0; i < before.size(); ++i)
    if (before[i] != after[i])
      scenario.reference_lost_by +=
          (scenario.reference_lost_by.empty() ? "" : ", ") + std::string(kPublishedJob[i]);
  if (!scenario.reference_lost_by.empty()) scenario.reference.reset();
}

}  // namespace

Scenario parse_scenario(const JsonValue& json, std::string_view name) {
  json.accept_keys({"description", "cluster", "gpus", "model", "training", "strategy",
                    "calibration", "compute_efficiency", "perturbations", "reference"});
  Scenario scenario{std::string(name),
                    "",
                    read_cluster(json.at("cluster")),
                    read_model(json.at("model")),
                    parse_training(json.at("training")),
                    json.at("strategy"),
                    "",
                    1,
                    {},
                    {},
                    {},
                    "",
                    {},
                    json.dump()};
  if (const auto text = json.find("description")) scenario.description = text->as_string();
  scenario.calibration = scenario.cluster.calibration;
  if (const auto value = json.find("calibration")) scenario.calibration = read_calibration(*value);
  if (const auto value = json.find("compute_efficiency"))
    scenario.compute_efficiency = value->as_number(kLeastEfficiency, kMostEfficiency);
  const auto gpus = json.find("gpus");
  scenario.gpus = gpus ? read_gpus(*gpus) : std::vector<int>{scenario.cluster.gpus()};
  if (const auto value = json.find("perturbations"))
    scenario.perturbations = parse_perturbations(*value);
  if (const auto value = json.find("reference")) scenario.reference = read_reference(*value);
  scenario.inputs.push_back({"scenario", scenario.name, sha256(scenario.canonical)});
  note_inputs(scenario);
  return scenario;
}

Scenario load_scenario(std::string_view name_or_path, const std::vector<std::string>& settings) {
  const auto file = resolve_data("scenario", "scenarios", name_or_path);
  const JsonValue original = JsonValue::parse_file(file);
  JsonValue json = original;
  for (const std::string& setting : settings) {
    const auto equals = setting.find('=');
    if (equals == std::string::npos || equals == 0)
      throw InputError({"--set", ""}, fmt::format("\"{}\" is not KEY=VALUE", setting));
    const std::string key = setting.substr(0, equals);
    if (key.rfind("strategy.", 0) == 0) json = with_strategy_object(json);
    json = json.with(key, as_in_file(file, key, setting.substr(equals + 1)));
  }
  Scenario scenario = parse_scenario(json, file.stem().string());
  drop_reference_of_another_job(scenario, original, json);
  return scenario;
}

Mesh data_parallel_mesh(const ClusterSpec& cluster, int gpus) {
  const int inside = cluster.node.gpus;
  if (gpus <= inside) return {gpus, 1};
  if (gpus % inside != 0)
    throw InputError(fmt::format(
        "{} GPUs do not fill whole nodes of {} GPUs (cluster {}); the nearest that do: {} and {}",
        gpus, inside, cluster.name, gpus / inside * inside, (gpus / inside + 1) * inside));
  return {inside, gpus / inside};
}

Schedule schedule_of(const Scenario& scenario, int gpus) {
  const Mesh mesh = data_parallel_mesh(scenario.cluster, gpus);
  return generate_schedule(scenario.model, scenario.training,
                           parse_strategy(scenario.strategy, mesh), mesh);
}

}  // namespace amsp
