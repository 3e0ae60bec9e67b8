// SPDX-License-Identifier: Apache-2.0
#include "scenarios/scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "base/file.hpp"
#include "base/output_path.hpp"
#include "calibrate/compute_model.hpp"
#include "scenarios/reference.hpp"
#include "workloads/generator.hpp"

namespace amsp {
namespace {

constexpr int kMostGpus = 1 << 20;
// Beyond these a calibration is of another GPU, or a unit was mistaken.
constexpr double kLeastEfficiency = 0.1, kMostEfficiency = 10;

// What a published result is of: not how it is predicted (calibration, compute_efficiency), nor the
// GPUs, as each number of them has rows of its own.
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
  const bool is_object = !value.empty() && value.front() == '{';
  if (!names_file || is_object || !scenario.has_parent_path() || beside("x/y", value) == value)
    return value;
  return std::filesystem::relative(path, scenario.parent_path()).string();
}

void note_inputs(Scenario& scenario) {
  scenario.inputs.push_back({"cluster", scenario.cluster.name, scenario.cluster.hash});
  scenario.inputs.push_back({"model", scenario.model.name, scenario.model.hash});
  if (scenario.calibration.empty()) {
    const auto table = default_kernel_file();
    scenario.inputs.push_back({"kernels", table.stem().string(), sha256(read_file(table))});
    return;
  }
  const auto file = resolve_data("calibration", "calibrate/data", scenario.calibration);
  scenario.inputs.push_back({"calibration", file.stem().string(), sha256(read_file(file))});
}

// A strategy that is a preset's name, as an object, so that one of its values can be set.
JsonValue with_strategy_object(const JsonValue& json) {
  const auto strategy = json.find("strategy");
  if (!strategy || !strategy->is_string()) return json;
  return json.with("strategy", fmt::format(R"({{"preset": {}}})", strategy->dump()));
}

// A value under a dotted key of at most two steps.
std::optional<JsonValue> part_of(const JsonValue& json, std::string_view key) {
  const auto dot = key.find('.');
  const auto value = json.find(key.substr(0, dot));
  if (!value || dot == std::string_view::npos) return value;
  return value->is_object() ? value->find(key.substr(dot + 1)) : std::nullopt;
}

// Without what says nothing of the job: names, texts, prices, how it is predicted, a reserve (which
// takes no time).
ClusterSpec published_cluster(const JsonValue& json) {
  ClusterSpec cluster = read_cluster(json);
  cluster.name = cluster.description = cluster.calibration = cluster.hash = "";
  cluster.sources = cluster.assumptions = {};
  cluster.price_per_gpu_hour = 0;
  return cluster;
}

ModelShape published_model(const JsonValue& json) {
  ModelShape model = read_model(json);
  model.name = model.hash = "";
  return model;
}

Training published_training(const JsonValue& json) {
  Training training = parse_training(json);
  training.memory_reserve = Bytes(0);
  return training;
}

std::optional<Strategy> strategy_on(const JsonValue& scenario, int gpus) {
  try {
    return parse_strategy(scenario.at("strategy"),
                          data_parallel_mesh(read_cluster(scenario.at("cluster")), gpus));
  } catch (const InputError&) {
    return std::nullopt;
  }
}

// On every number of GPUs that has published values, as meshes may depend on it ("all").
bool same_strategy(const JsonValue& file, const JsonValue& set, const ReferenceKey& reference) {
  std::set<int> published;
  for (const ReferenceRow& row : load_reference())
    if (row.system == reference.system && row.model == reference.model && row.gpus > 0)
      published.insert(row.gpus);
  bool same = false;
  for (const int gpus : published) {
    const auto before = strategy_on(file, gpus), after = strategy_on(set, gpus);
    if (before != after) return false;
    same = same || before.has_value();
  }
  return same;
}

// The same text, or texts that are read as the same.
bool same_part(const JsonValue& file, const JsonValue& set, std::string_view key,
               const ReferenceKey& reference) {
  const auto before = part_of(file, key), after = part_of(set, key);
  if (!before || !after) return !before && !after;
  if (before->dump() == after->dump()) return true;
  try {
    if (key == "cluster") return published_cluster(*before) == published_cluster(*after);
    if (key == "model") return published_model(*before) == published_model(*after);
    if (key == "training") return published_training(*before) == published_training(*after);
  } catch (const InputError&) {
    return false;
  }
  return key == "strategy" && same_strategy(file, set, reference);
}

// The reference is that of the file as it is, unless the user names one.
void drop_reference_of_another_job(Scenario& scenario, const JsonValue& file,
                                   const JsonValue& set) {
  if (!scenario.reference) return;
  const auto reference = file.find("reference");
  if (!reference || reference->dump() != set.at("reference").dump()) return;
  for (const std::string_view key : kPublishedJob)
    if (!same_part(file, set, key, *scenario.reference))
      scenario.reference_lost_by +=
          (scenario.reference_lost_by.empty() ? "" : ", ") + std::string(key);
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
