// SPDX-License-Identifier: Apache-2.0
#include "workloads/training.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>

using namespace amsp;

namespace {

Training parse(const std::string& text) {
  return parse_training(JsonValue::parse_text(text, "training.json"));
}

std::string error_of(const std::string& text, int ranks = 8) {
  try {
    micro_batches(parse(text), ranks);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a global batch in sequences or tokens") {
  CHECK(parse(R"({"global_batch": 1024})").global_batch == 1024);
  CHECK(parse(R"({"sequence_length": 4096, "global_batch": "4Mi tokens"})").global_batch == 1024);
  CHECK(parse(R"({"sequence_length": 2048, "global_batch": "4194304 tokens"})").global_batch ==
        2048);
  // All forms of base/units_text.hpp, and those of the paper's tables.
  for (const char* text : {"4.096M tokens", "4096k tokens", "4096KTokens", "0.004096B tokens"})
    CHECK(parse(fmt::format(R"({{"sequence_length": 4096, "global_batch": "{}"}})", text))
              .global_batch == 1000);
  CHECK(parse(R"({"sequence_length": 1000, "global_batch": "0.07M tokens"})").global_batch == 70);
  CHECK(micro_batches(parse(R"({"global_batch": 1024})"), 8) == 128);
  CHECK(micro_batches(parse(R"({"global_batch": 1024, "micro_batch": 4})"), 8) == 32);
}

TEST_CASE("batches that cannot be shared are refused with a batch that can") {
  CHECK_THAT(error_of(R"({"global_batch": 1000})", 7),
             Catch::Contains("a multiple of 7") && Catch::Contains("994 or 1001"));
  CHECK_THAT(error_of(R"({"global_batch": "4M tokens"})"),
             Catch::Contains("whole number") && Catch::Contains("3997696 or 4001792 tokens"));
  CHECK_THAT(error_of(R"({"global_batch": "100 tokens"})"), Catch::Contains(": 4096 tokens"));
  CHECK_THAT(error_of(R"({"global_batch": "4M"})"), Catch::Contains("is not a batch"));
  CHECK_THAT(error_of(R"({"global_batch": "4096.5 tokens"})"), Catch::Contains("whole number"));
  CHECK_THAT(error_of(R"({"global_batch": "2T tokens"})"), Catch::Contains("whole number"));
  CHECK_THAT(error_of(R"({"recompute": "some"})"), Catch::Contains("selective"));
  CHECK_THAT(error_of(R"({"loss": "plane"})"), Catch::Contains("did you mean \"plain\""));
  CHECK_THAT(error_of(R"({"dtype": "fp32"})"), Catch::Contains("bf16 or fp16"));
  CHECK_THAT(error_of(R"({"memory_reserve": "-1GiB"})"), Catch::Contains("negative"));
  CHECK_THAT(error_of(R"({"memory_reserve": 2})"), Catch::Contains("/memory_reserve"));
}
