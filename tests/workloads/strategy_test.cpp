// SPDX-License-Identifier: Apache-2.0
// Strategies: presets, text, and the rules of the paper's section V-B.
#include "workloads/strategy.hpp"

#include <rapidcheck/catch.h>

#include <catch2/catch.hpp>

#include "random_jobs.hpp"

using namespace amsp;
using namespace amsp::testing;

namespace {

Strategy parse(const std::string& text, Mesh dp = {8, 4}) {
  return parse_strategy(JsonValue::parse_text(text, "strategy.json"), dp);
}

std::string error_of(const std::string& text, Mesh dp = {8, 4}) {
  try {
    check_strategy(parse(text, dp), dp);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("presets obey the rules on any machine and survive their text") {
  rc::prop("presets", [] {
    const Mesh dp{*rc::gen::inRange(1, 17), *rc::gen::inRange(1, 20)};
    for (const StrategyPreset* preset : strategy_presets()) {
      const Strategy strategy = preset->make(dp);
      check_strategy(strategy, dp);
      RC_ASSERT(strategy.name == preset->name());
      const std::string text = to_json(strategy);
      RC_ASSERT(to_json(parse(text, dp)) == text);
    }
  });
}

TEST_CASE("sizes that make no sense are refused") {
  CHECK_THAT(error_of(R"({"bucket": "0B"})"), Catch::Contains("bucket"));
  CHECK_THAT(error_of(R"({"bucket": 5})"), Catch::Contains("/bucket"));
  CHECK_THAT(error_of(R"({"sub_group": 1000})"), Catch::Contains("/sub_group"));
  CHECK_THAT(error_of(R"({"adam": "forearch"})"), Catch::Contains("did you mean \"foreach\""));
  CHECK_THAT(error_of(R"({"gathers_in_flight": 0})"), Catch::Contains("/gathers_in_flight"));
  const Mesh dp{8, 1};
  Training training;
  training.global_batch = 8;
  Strategy strategy = parse("\"zero1\"", dp);
  strategy.bucket = Bytes(1000);
  CHECK_THROWS_WITH(generate_schedule(load_model("llama-7b"), training, strategy, dp),
                    Catch::Contains("at least"));
}

TEST_CASE("meshes as text") {
  CHECK(parse(R"({"preset": "amsp", "optimizer": "8x4"})").optimizer == Mesh{8, 4});
  CHECK(parse(R"({"preset": "amsp", "optimizer": "all"})").optimizer == Mesh{8, 4});
  CHECK(parse(R"({"preset": "amsp", "optimizer": "node"})").optimizer == Mesh{8, 1});
  // Parameters that are sharded take the gradients along, and the states where these lag behind.
  const Strategy amsp = parse(R"({"preset": "amsp", "parameters": "4x1"})");
  CHECK(amsp.gradients == Mesh{4, 1});
  CHECK(amsp.optimizer == Mesh{8, 1});
  CHECK(parse(R"({"preset": "mics", "parameters": "8x2"})").optimizer == Mesh{8, 2});
}

TEST_CASE("what a preset shards alike follows the mesh that is given, up and down") {
  for (const char* preset : {"zero3", "mics", "hsdp", "fsdp", "zeropp"})
    for (const char* key : {"parameters", "gradients", "optimizer"})
      for (const Mesh mesh : {Mesh{4, 1}, Mesh{8, 2}, Mesh{1, 1}}) {
        const std::string text = std::string("{\"preset\": \"") + preset + "\", \"" + key +
                                 "\": \"" + to_text(mesh) + "\"}";
        INFO(text);
        CHECK(error_of(text).empty());
        const Strategy strategy = parse(text);
        CHECK(strategy.parameters == mesh);
        CHECK(strategy.gradients == mesh);
        CHECK(strategy.optimizer == mesh);
      }
  // hpZ gathers from a part of the parameters' mesh, or not at all.
  CHECK(parse(R"({"preset": "zeropp", "parameters": "4x1"})").secondary.size() == 0);
  CHECK(parse(R"({"preset": "zeropp", "parameters": "8x2"})").secondary == Mesh{8, 1});
  for (const char* key : {"gradients", "optimizer"}) {
    const Strategy zero2 = parse(std::string("{\"preset\": \"zero2\", \"") + key + "\": \"8x1\"}");
    CHECK(zero2.parameters == Mesh{1, 1});
    CHECK(zero2.gradients == Mesh{8, 1});
    CHECK(zero2.optimizer == Mesh{8, 1});
  }
  // One GPU a node: the node is not what mics shards over by chance.
  CHECK(parse(R"({"preset": "mics", "optimizer": "1x4"})", {1, 8}).parameters == Mesh{1, 4});
  // What is whole in a preset stays so.
  CHECK(parse(R"({"preset": "zero1", "optimizer": "8x1"})").gradients == Mesh{1, 1});
  CHECK(parse(R"({"preset": "amsp", "gradients": "8x1"})").parameters == Mesh{1, 1});
  CHECK(parse(R"({"preset": "ddp", "optimizer": "8x1"})").parameters == Mesh{1, 1});
  CHECK(parse(R"({"preset": "amsp", "optimizer": "1x4"})", {1, 8}).gradients == Mesh{1, 1});
  // What is said stays said.
  const Strategy said = parse(R"({"preset": "zero3", "parameters": "4x1", "optimizer": "8x1"})");
  CHECK(said.gradients == Mesh{4, 1});
  CHECK(said.optimizer == Mesh{8, 1});
}

TEST_CASE("a broken rule is named, with what would do") {
  CHECK_THAT(error_of(R"({"parameters": "4x1", "optimizer": "2x1"})"),
             Catch::Contains("dependency rule") && Catch::Contains("at least 4x1"));
  CHECK_THAT(error_of(R"({"optimizer": "3x1"})"),
             Catch::Contains("divisibility") && Catch::Contains("1, 2, 4, 8 would do"));
  CHECK_THAT(error_of(R"({"optimizer": "8x3"})"), Catch::Contains("1, 2, 4 would do"));
  CHECK_THAT(error_of(R"({"optimizer": "4x2"})"),
             Catch::Contains("fills a node before it crosses") && Catch::Contains("8x2 would do"));
  CHECK_THAT(error_of(R"({"gradients": "4x1", "optimizer": "8x1"})"),
             Catch::Contains("must be sharded as"));
  CHECK_THAT(error_of(R"({"optimizer": "4by2"})"), Catch::Contains("is not a mesh"));
  CHECK_THAT(error_of(R"({"update": "none"})"), Catch::Contains("must spread"));
  CHECK_THAT(error_of(R"({"update": "all_gather"})"), Catch::Contains("uneven"));
  CHECK_THAT(error_of("\"zero4\""), Catch::Contains("did you mean \"zero1\""));
  CHECK_THAT(error_of(R"({"preset": "amsp", "overlap_brodcast": true})"),
             Catch::Contains("did you mean \"overlap_broadcast\""));
  // Nested, but not a divisor: 2 of 6 and 3 of 6.
  CHECK_THAT(error_of(R"({"parameters": "2x1", "optimizer": "3x1"})", {6, 1}),
             Catch::Contains("must divide"));
}
