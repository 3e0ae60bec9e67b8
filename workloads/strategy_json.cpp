// SPDX-License-Identifier: Apache-2.0
// Strategies as text (docs/formats/strategy.md).
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/units_text.hpp"
#include "workloads/strategy.hpp"

namespace amsp {
namespace {

// The switches by name, for reading and printing alike.
struct Flag {
  const char* key;
  bool Strategy::*member;
};
constexpr Flag kFlags[] = {{"reduce_every_micro_batch", &Strategy::reduce_every_micro_batch},
                           {"overlap_gather_scatter", &Strategy::overlap_gather_scatter},
                           {"overlap_all_reduce", &Strategy::overlap_all_reduce},
                           {"overlap_broadcast", &Strategy::overlap_broadcast},
                           {"single_communication_stream", &Strategy::single_communication_stream},
                           {"flat_layers", &Strategy::flat_layers},
                           {"root_unit", &Strategy::root_unit},
                           {"gather_per_tensor", &Strategy::gather_per_tensor},
                           {"gather_per_layer", &Strategy::gather_per_layer},
                           {"contiguous_gradients", &Strategy::contiguous_gradients},
                           {"inter_tensor_ownership", &Strategy::inter_tensor_ownership},
                           {"hierarchical_gather", &Strategy::hierarchical_gather},
                           {"quantized_weights", &Strategy::quantized_weights},
                           {"quantized_gradients", &Strategy::quantized_gradients}};

const std::vector<std::string> kUpdates{"none", "broadcast", "all_gather"};
const std::vector<std::string> kReductions{"all_reduce", "reduce_scatter"};
const std::vector<std::string> kBoundaries{"bucketed", "synchronous"};
const std::vector<std::string> kAdams{"internevo", "deepspeed", "foreach", "fused"};

bool read_number(std::string_view text, int& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && value >= 1;
}

// What a preset shards alike, where it shards: {P, G, OS} of zero3, {G, OS} of zero2.
struct Alike {
  bool parameters_gradients = false, gradients_optimizer = false;
  explicit Alike(const StrategyPreset& preset) {
    const Strategy typical = preset.make({2, 2});  // where a node, all and nothing differ
    const auto alike = [](Mesh a, Mesh b) { return a == b && a.size() > 1; };
    parameters_gradients = alike(typical.parameters, typical.gradients);
    gradients_optimizer = alike(typical.gradients, typical.optimizer);
  }
};

// A mesh that is given takes along, up and down, those that the preset shards alike and nothing
// else is said of; parameters take gradients along in any preset.
void follow(const JsonValue& json, const Alike& alike, Strategy& strategy) {
  const bool p = json.find("parameters").has_value();
  const bool g = json.find("gradients").has_value();
  const bool os = json.find("optimizer").has_value();
  if (p && !g)
    strategy.gradients = strategy.parameters;
  else if (os && !g && alike.gradients_optimizer)
    strategy.gradients = strategy.optimizer;
  if ((g || os) && !p && alike.parameters_gradients) strategy.parameters = strategy.gradients;
  if (os) return;
  const Mesh least = strategy.gradients;
  const bool lags =
      strategy.optimizer.inside < least.inside || strategy.optimizer.across < least.across;
  const bool moves = alike.gradients_optimizer && (g || (p && alike.parameters_gradients));
  if (moves || (p && lags)) strategy.optimizer = least;
}

void read_meshes(const JsonValue& json, const StrategyPreset& preset, Mesh data_parallel,
                 Strategy& strategy) {
  const auto read = [&](std::string_view key, Mesh& mesh) {
    if (const auto found = json.find(key))
      mesh = parse_mesh(found->as_string(), data_parallel, found->place());
  };
  read("parameters", strategy.parameters);
  read("gradients", strategy.gradients);
  read("optimizer", strategy.optimizer);
  follow(json, Alike(preset), strategy);
  if (const auto secondary = json.find("secondary")) {
    strategy.secondary = {0, 0};
    if (secondary->as_string() != "off")
      strategy.secondary = parse_mesh(secondary->as_string(), data_parallel, secondary->place());
  } else if (strategy.secondary.inside > strategy.parameters.inside ||
             strategy.secondary.across > strategy.parameters.across) {
    strategy.secondary = {0, 0};  // the preset's: a shard of parameters that are held whole
  }
}

}  // namespace

Mesh parse_mesh(std::string_view text, Mesh data_parallel, const Place& place) {
  if (text == "all") return data_parallel;
  if (text == "node") return {data_parallel.inside, 1};
  Mesh mesh;
  const std::size_t cross = text.find('x');
  const bool good = cross == std::string_view::npos
                        ? text == "1"
                        : read_number(text.substr(0, cross), mesh.inside) &&
                              read_number(text.substr(cross + 1), mesh.across);
  if (!good)
    throw InputError(place, "\"" + std::string(text) +
                                "\" is not a mesh; write GPUs inside a node x nodes (\"8x4\"), "
                                "\"node\" or \"all\"");
  return mesh;
}

Strategy parse_strategy(const JsonValue& json, Mesh data_parallel) {
  if (json.is_string())
    return find_strategy_preset(json.as_string(), json.place()).make(data_parallel);
  std::vector<std::string> keys{"name",      "preset",         "parameters", "gradients",
                                "optimizer", "update",         "reduction",  "boundary",
                                "bucket",    "reuse_distance", "secondary",  "gathers_in_flight",
                                "adam",      "sub_group"};
  for (const Flag& flag : kFlags) keys.emplace_back(flag.key);
  json.accept_keys(keys);
  const auto preset = json.find("preset");
  const StrategyPreset& base = find_strategy_preset(preset ? preset->as_string() : "amsp",
                                                    preset ? preset->place() : json.place());
  Strategy strategy = base.make(data_parallel);
  if (!preset) strategy.name = "custom";
  if (const auto name = json.find("name")) strategy.name = name->as_string();
  read_meshes(json, base, data_parallel, strategy);
  for (const Flag& flag : kFlags)
    if (const auto found = json.find(flag.key)) strategy.*flag.member = found->as_bool();
  if (const auto update = json.find("update"))
    strategy.update = static_cast<ParameterUpdate>(update->as_one_of("update", kUpdates));
  if (const auto reduction = json.find("reduction"))
    strategy.reduction =
        static_cast<GradientReduction>(reduction->as_one_of("reduction", kReductions));
  if (const auto boundary = json.find("boundary"))
    strategy.boundary =
        static_cast<BoundaryReduction>(boundary->as_one_of("boundary", kBoundaries));
  if (const auto adam = json.find("adam"))
    strategy.adam = static_cast<Adam>(adam->as_one_of("adam", kAdams));
  if (const auto group = json.find("sub_group")) strategy.sub_group = group->as_bytes();
  if (const auto bucket = json.find("bucket")) strategy.bucket = bucket->as_bytes();
  if (const auto distance = json.find("reuse_distance"))
    strategy.reuse_distance = distance->as_bytes();
  if (const auto gathers = json.find("gathers_in_flight"))
    strategy.gathers_in_flight = static_cast<int>(gathers->as_integer(1, 1 << 20));
  return strategy;
}

std::string to_json(const Strategy& strategy) {
  nlohmann::ordered_json json{{"name", strategy.name},
                              {"parameters", to_text(strategy.parameters)},
                              {"gradients", to_text(strategy.gradients)},
                              {"optimizer", to_text(strategy.optimizer)}};
  json["update"] = kUpdates[static_cast<std::size_t>(strategy.update)];
  json["reduction"] = kReductions[static_cast<std::size_t>(strategy.reduction)];
  json["boundary"] = kBoundaries[static_cast<std::size_t>(strategy.boundary)];
  for (const Flag& flag : kFlags) json[flag.key] = strategy.*flag.member;
  json["gathers_in_flight"] = strategy.gathers_in_flight;
  json["reuse_distance"] = to_text(strategy.reuse_distance);
  json["bucket"] = to_text(strategy.bucket);
  json["adam"] = kAdams[static_cast<std::size_t>(strategy.adam)];
  json["sub_group"] = to_text(strategy.sub_group);
  json["secondary"] = strategy.secondary.size() > 0 ? to_text(strategy.secondary) : "off";
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace amsp
