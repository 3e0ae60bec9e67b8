// SPDX-License-Identifier: Apache-2.0
// Switches that cannot act: what is said of them, against the schedules with and without.
#include "workloads/idle_switches.hpp"

#include <fmt/format.h>
#include <rapidcheck/catch.h>

#include <catch2/catch.hpp>
#include <map>

#include "random_jobs.hpp"

using namespace amsp;
using namespace amsp::testing;

namespace {

// Every switch with values of which at least one differs from any preset's.
const std::multimap<std::string, std::string>& settings() {
  static const std::multimap<std::string, std::string> all = [] {
    std::multimap<std::string, std::string> list{
        {"update", "\"none\""},          {"update", "\"broadcast\""},
        {"update", "\"all_gather\""},    {"reduction", "\"all_reduce\""},
        {"boundary", "\"synchronous\""}, {"reduction", "\"reduce_scatter\""},
        {"boundary", "\"bucketed\""},    {"bucket", "\"7MB\""},
        {"secondary", "\"node\""},       {"secondary", "\"off\""},
        {"secondary", "\"1x1\""},        {"gathers_in_flight", "1"},
        {"reuse_distance", "\"1TB\""},   {"adam", "\"fused\""},
        {"sub_group", "\"1KB\""}};
    for (const char* flag :
         {"reduce_every_micro_batch", "overlap_gather_scatter", "overlap_all_reduce",
          "overlap_broadcast", "single_communication_stream", "flat_layers", "root_unit",
          "gather_per_tensor", "gather_per_layer", "contiguous_gradients", "inter_tensor_ownership",
          "hierarchical_gather", "quantized_weights", "quantized_gradients"})
      for (const char* value : {"true", "false"}) list.emplace(flag, value);
    return list;
  }();
  return all;
}

std::vector<std::string> said(const std::string& json, Mesh dp) {
  return idle_switches(JsonValue::parse_text(json, "strategy"), dp);
}

bool refused(const Strategy& strategy, Mesh dp) {
  try {
    check_strategy(strategy, dp);
  } catch (const InputError&) {
    return true;
  }
  return false;
}

}  // namespace

TEST_CASE("a switch that is said to change nothing changes nothing in the schedule") {
  int noted = 0;
  rc::prop("schedules are equal", [&] {
    const Mesh dp = random_machine();
    const ModelShape model = random_model();
    const Training training = random_training(dp);
    const StrategyPreset* preset = *rc::gen::elementOf(strategy_presets());
    Schedule plain = generate_schedule(model, training, preset->make(dp), dp);
    const std::string usual = to_json(plain);
    plain.persistent.clear();
    const std::string usual_but_memory = to_json(plain);
    for (const auto& [key, value] : settings()) {
      const std::string json =
          fmt::format(R"({{"preset": "{}", "{}": {}}})", preset->name(), key, value);
      const std::vector<std::string> notes = said(json, dp);
      if (notes.empty()) continue;
      RC_ASSERT(notes.size() == 1u);
      RC_ASSERT(notes.front().find("strategy." + key + " changes nothing") == 0u);
      const Strategy strategy = parse_strategy(JsonValue::parse_text(json, "strategy"), dp);
      if (refused(strategy, dp)) continue;
      Schedule other = generate_schedule(model, training, strategy, dp);
      const bool takes_memory = notes.front().find("only takes memory") != std::string::npos;
      if (takes_memory) other.persistent.clear();
      if (to_json(other) != (takes_memory ? usual_but_memory : usual))
        RC_FAIL(json + " on " + to_text(dp) + ": " + notes.front());
      ++noted;
    }
  });
  CHECK(noted > 200);
}

TEST_CASE("switches that act are not noted; those that equal the preset are not either") {
  const Mesh dp{8, 4};
  CHECK(said(R"({"preset": "ddp", "overlap_broadcast": true})", dp).size() == 1);
  CHECK(said(R"({"preset": "ddp", "overlap_broadcast": false})", dp).empty());
  CHECK(
      said(R"({"preset": "ddp", "gathers_in_flight": 4, "quantized_weights": true})", dp).size() ==
      2);
  CHECK(said(R"({"preset": "zero3", "overlap_all_reduce": false})", dp).size() == 1);
  CHECK(said(R"({"preset": "mics", "overlap_all_reduce": false})", dp).size() == 1);  // blocks
  CHECK(said(R"({"preset": "mics", "hierarchical_gather": true})", dp).size() == 1);
  CHECK(said(R"({"preset": "zero3", "hierarchical_gather": true})", dp).empty());
  CHECK(said(R"({"preset": "amsp", "overlap_broadcast": true, "bucket": "1MiB"})", dp).empty());
  CHECK(said(R"({"preset": "ddp", "bucket": "1MiB", "overlap_all_reduce": false})", dp).empty());
  // A secondary shard is of use where it is less than the parameters' and more than none.
  CHECK(said(R"({"preset": "mics", "secondary": "8x1"})", dp).size() == 1);
  CHECK(said(R"({"preset": "mics", "secondary": "4x1"})", dp).empty());
  CHECK(said(R"({"preset": "ddp", "secondary": "1x1"})", dp).size() == 1);
  for (const char* key : {"hierarchical_gather", "quantized_weights", "quantized_gradients"}) {
    for (const char* whole : {"zero1", "amsp", "ddp"})
      CHECK(said(fmt::format(R"({{"preset": "{}", "{}": true}})", whole, key), dp).size() == 1);
    CHECK(said(fmt::format(R"({{"preset": "zero3", "{}": true}})", key), dp).empty());
  }
  CHECK(said(R"({"preset": "fsdp", "adam": "fused", "sub_group": "1GB"})", dp).size() == 1);
  CHECK(said(R"({"preset": "zero3", "adam": "foreach", "sub_group": "1GB"})", dp).empty());
  CHECK(said("\"zero3\"", dp).empty());
}

TEST_CASE("every switch acts somewhere") {
  const Mesh dp{4, 4};
  for (const auto& [key, value] : settings()) {
    bool acts = false;
    for (const StrategyPreset* preset : strategy_presets()) {
      const std::string json =
          fmt::format(R"({{"preset": "{}", "{}": {}}})", preset->name(), key, value);
      acts = acts || said(json, dp).empty();
    }
    INFO(key);
    CHECK(acts);
  }
}
