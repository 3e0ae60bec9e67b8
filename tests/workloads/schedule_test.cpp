// SPDX-License-Identifier: Apache-2.0
// The schedule as data: communicators, its text form, its errors.
#include "workloads/schedule.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "workloads/generator.hpp"

using namespace amsp;

namespace {

Schedule parse(const std::string& text) {
  return parse_schedule(JsonValue::parse_text(text, "schedule.json"));
}

std::string error_of(const std::string& text) {
  try {
    parse(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string with_op(const std::string& op) {
  return R"({"name": "t", "world": 4, "streams": [{"name": "compute", "compute": true}],
    "communicators": [{"name": "all", "axes": [{"size": 4, "member": true}]}],
    "blocks": [{"name": "step", "ops": [)" +
         op + "]}]}";
}

}  // namespace

TEST_CASE("a communicator family covers the world, each rank once") {
  Communicator c{"c", {{2, false}, {3, true}, {5, false}, {2, true}}, {}};
  REQUIRE(c.group_size() == 6);
  REQUIRE(c.group_count() == 10);
  std::set<Rank> seen;
  for (int g = 0; g < c.group_count(); ++g) {
    const std::vector<Rank> members = c.members(g);
    for (std::size_t i = 0; i < members.size(); ++i) {
      CHECK(seen.insert(members[i]).second);
      const auto membership = c.membership(members[i]);
      REQUIRE(membership);
      CHECK(membership->group == g);
      CHECK(membership->index == static_cast<int>(i));
    }
  }
  CHECK(seen.size() == 60);
  CHECK_FALSE(c.membership(Rank(60)));
  // d0 + 2 (d1 + 3 (d2 + 5 d3)): group 0 differs in d1 and d3 only.
  CHECK(c.members(0) == std::vector<Rank>{Rank(0), Rank(2), Rank(4), Rank(30), Rank(32), Rank(34)});
}

TEST_CASE("a schedule's text parses to the same text") {
  const ModelShape model = load_model("qwen2.5-0.5b");
  Training training;
  training.global_batch = 32;
  training.sequence_length = 512;
  for (const StrategyPreset* preset : strategy_presets()) {
    INFO(preset->name());
    const Schedule schedule = generate_schedule(model, training, preset->make({4, 2}), {4, 2});
    const std::string text = to_json(schedule);
    CHECK(to_json(parse(text)) == text);
  }
}

TEST_CASE("errors in a schedule name their place") {
  const auto contains = [](const std::string& text) { return Catch::Contains(text); };
  CHECK_THAT(error_of(with_op(R"({"name": "a", "stream": "compte"})")),
             contains("did you mean \"compute\""));
  CHECK_THAT(error_of(with_op(R"({"name": "a", "stream": "compute", "after": ["b"]})")),
             contains("unknown op \"b\""));
  CHECK_THAT(error_of(with_op(R"({"name": "a", "stream": "compute"},
                                 {"name": "a", "stream": "compute"})")),
             contains("two ops are named \"a\""));
  CHECK_THAT(error_of(with_op(R"({"name": "a", "stream": "compute", "collective":
      {"kind": "broadcast", "communicator": "all", "bytes": "1MiB", "root": 4}})")),
             contains("root 4 is outside a group of 4"));
  CHECK_THAT(error_of(with_op(R"({"name": "a", "stream": "compute", "collective":
      {"kind": "broadcast", "communicator": "all", "bytes": 12}})")),
             contains("/blocks/0/ops/0/collective/bytes"));
  CHECK_THAT(error_of(with_op(R"({"name": "a", "stream": "compute", "kernels":
      [{"kind": "gemm", "m": 0, "n": 1, "k": 1}]})")),
             contains("/kernels/0/m"));
  CHECK_THAT(error_of(R"({"name": "t", "world": 4, "streams": [{"name": "c"}], "communicators":
      [{"name": "x", "axes": [{"size": 3, "member": true}]}],
      "blocks": [{"name": "b", "ops": [{"name": "a", "stream": "c"}]}]})"),
             contains("3 ranks, but the world has 4"));
  // 2^72 ranks, of which 64 bits would keep none.
  CHECK_THAT(error_of(R"({"name": "t", "world": 4, "streams": [{"name": "c"}], "communicators":
      [{"name": "x", "axes": [{"size": 16777216, "member": true}, {"size": 16777216,
       "member": false}, {"size": 16777216, "member": true}]}],
      "blocks": [{"name": "b", "ops": [{"name": "a", "stream": "c"}]}]})"),
             contains("\"x\": its axes make more ranks than the 4 of the world"));
  CHECK_THAT(error_of(R"({"name": "t", "world": 4, "streams": [{"name": "c"}], "communicators":
      [{"name": "x", "groups": [[0, 1], [1, 2]]}],
      "blocks": [{"name": "b", "ops": [{"name": "a", "stream": "c"}]}]})"),
             contains("rank 1 stands twice"));
}
