#include "base/json_value.hpp"

#include <catch2/catch.hpp>

using namespace amsp;
using Catch::Contains;

namespace {
JsonValue parse(std::string_view text) { return JsonValue::parse_text(text, "t.json"); }
}  // namespace

TEST_CASE("duplicate keys are refused with their place") {
  CHECK_THROWS_WITH(parse(R"({"a": {"b": 1, "c": 2, "b": 3}})"),
                    Contains("t.json: /a/b") && Contains("twice"));
  CHECK_NOTHROW(parse(R"([{"a": 1}, {"a": 1}])"));
}

TEST_CASE("unknown keys are refused with the nearest name") {
  const JsonValue json = parse(R"({"training": {"micro_bacth": 1}})");
  CHECK_THROWS_WITH(
      json.at("training").accept_keys({"micro_batch", "sequence_length"}),
      Contains("t.json: /training/micro_bacth") && Contains("did you mean \"micro_batch\"?"));
}

TEST_CASE("wrong types, missing keys and numbers without a unit name their place") {
  const JsonValue json = parse(R"({"a": {"n": 1.5, "s": "x", "q": 4}})").at("a");
  CHECK_THROWS_WITH(json.at("n").as_integer(0, 9), Contains("/a/n: must be a whole number"));
  CHECK_THROWS_WITH(json.at("s").as_number(0, 9), Contains("/a/s: must be a number"));
  CHECK_THROWS_WITH(json.at("q").as_bytes(), Contains("unit"));
  CHECK_THROWS_WITH(json.at("zz"), Contains("/a: key \"zz\" is missing"));
  CHECK_THROWS_WITH(json.at("n").as_number(2, 9), Contains("between 2 and 9"));
  CHECK_THROWS_WITH(json.at("s").as_one_of("engine", {"xx", "y"}), Contains("unknown engine"));
  CHECK_THROWS_AS(json.items(), InputError);
  CHECK_THROWS_AS(json.at("s").members(), InputError);
}

TEST_CASE("text that is not JSON says where") {
  CHECK_THROWS_WITH(parse("{\"a\": }"), Contains("t.json") && Contains("line 1"));
  CHECK_THROWS_AS(parse(""), InputError);
  CHECK_THROWS_AS(parse(std::string(100, '[')), InputError);
  CHECK_THROWS_AS(parse("{\"a\": 1e999}"), InputError);
}

TEST_CASE("settings replace values by path") {
  const JsonValue json = parse(R"({"training": {"micro_batch": 1}, "strategy": "zero3"})");
  CHECK(json.with("training.micro_batch", "4").at("training").at("micro_batch").as_integer(1, 9) ==
        4);
  CHECK(json.with("strategy", "amsp").at("strategy").as_string() == "amsp");
  CHECK(json.with("new.key", "7").at("new").at("key").as_integer(1, 9) == 7);
  CHECK_THROWS_WITH(json.with("strategy.preset", "amsp"),
                    Contains("\"strategy\" is \"zero3\", not an object"));
  CHECK(json.at("strategy").as_string() == "zero3");
  CHECK_THROWS_AS(json.with("training..x", "1"), InputError);
}
