// SPDX-License-Identifier: Apache-2.0
// The examples in the format pages are what the readers accept.
#include <catch2/catch.hpp>

#include "base/file.hpp"
#include "workloads/generator.hpp"

using namespace amsp;

namespace {

JsonValue example(const std::string& page) {
  const std::string text =
      read_file(std::string(AMSP_SOURCE_FOLDER) + "/docs/formats/" + page + ".md");
  const std::string fence = "```json\n";
  const std::size_t begin = text.find(fence);
  REQUIRE(begin != std::string::npos);
  const std::size_t end = text.find("```", begin + fence.size());
  return JsonValue::parse_text(text.substr(begin + fence.size(), end - begin - fence.size()),
                               page + ".md");
}

}  // namespace

TEST_CASE("documented examples are read") {
  const Schedule schedule = parse_schedule(example("schedule"));
  CHECK(schedule.world == 2);
  CHECK(schedule.ops.size() == 4);
  CHECK(parameter_count(parse_model(example("model"), "mistral")) == 7241732096.0);
  const Strategy strategy = parse_strategy(example("strategy"), {8, 2});
  CHECK_NOTHROW(check_strategy(strategy, {8, 2}));
  CHECK(strategy.overlap_broadcast);
}
