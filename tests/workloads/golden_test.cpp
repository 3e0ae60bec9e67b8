// SPDX-License-Identifier: Apache-2.0
// The schedule of a two-layer model for each preset, readable on one screen
// (tests/workloads/golden). AMSP_APPROVE=1 writes what is now printed.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>

#include "base/file.hpp"
#include "workloads/generator.hpp"

using namespace amsp;

namespace {

void compare(const std::string& name, const std::string& strategy) {
  const Mesh dp{2, 2};
  ModelShape model = load_model("llama-7b");
  model.name = "two layers";
  model.layers = 2;
  model.hidden = 1024;
  model.heads = model.kv_heads = 8;
  model.intermediate = 2816;
  Training training;
  training.sequence_length = 1024;
  training.global_batch = dp.size();
  const std::string text = to_text(generate_schedule(
      model, training, parse_strategy(JsonValue::parse_text(strategy, "strategy"), dp), dp));
  const std::string file = std::string(AMSP_TEST_FOLDER) + "/workloads/golden/" + name + ".txt";
  if (std::getenv("AMSP_APPROVE") != nullptr) write_file(file, text);
  INFO(file);
  CHECK(text == read_file(file));
  CHECK(std::count(text.begin(), text.end(), '\n') <= 60);
}

}  // namespace

TEST_CASE("golden schedules of the presets") {
  for (const StrategyPreset* preset : strategy_presets())
    compare(std::string(preset->name()), '"' + std::string(preset->name()) + '"');
  compare("amsp-sharded",
          R"({"preset": "amsp", "parameters": "2x1", "optimizer": "2x2",
              "overlap_broadcast": true})");
  compare("zeropp-quantized",
          R"({"preset": "zeropp", "quantized_weights": true, "quantized_gradients": true})");
  compare("mics-hierarchical",
          R"({"preset": "mics", "parameters": "2x2", "hierarchical_gather": true})");
}

TEST_CASE("odd shapes") {
  ModelShape model = load_model("llama-7b");
  model.layers = 1;
  model.vocabulary = 256000;
  Training training;
  training.sequence_length = 131072;
  for (const Mesh dp : {Mesh{7, 1}, Mesh{8, 3}, Mesh{1, 3}, Mesh{1, 1}}) {
    training.global_batch = 2 * dp.size();
    for (const StrategyPreset* preset : strategy_presets()) {
      INFO(preset->name() << " on " << to_text(dp));
      const Schedule schedule = generate_schedule(model, training, preset->make(dp), dp);
      CHECK(schedule.world == dp.size());
      CHECK_NOTHROW(check_schedule(schedule));
    }
  }
}
