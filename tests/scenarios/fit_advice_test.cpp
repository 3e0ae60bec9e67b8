// What is advised is simulated: it fits.
#include "scenarios/fit_advice.hpp"

#include <catch2/catch.hpp>
#include <sstream>

#include "scenarios/run.hpp"

using namespace amsp;
using Catch::Contains;

namespace {

using Settings = std::vector<std::string>;

RunResult run_of(const Settings& settings, int gpus) {
  return run_scenario(load_scenario("paper-7b-amsp", settings), gpus, {});
}

// The KEY=VALUE words of an advice; none where nothing would fit.
Settings advised(const std::string& advice) {
  const auto end = advice.find(" would fit");
  if (end == std::string::npos) return {};
  const auto begin = advice.find("leaves; ") + 8;
  std::istringstream words(advice.substr(begin, end - begin));
  Settings settings;
  for (std::string word; words >> word;) settings.push_back(word);
  return settings;
}

}  // namespace

TEST_CASE("advice for a step that does not fit is the least change, and it fits") {
  const auto check = [](const Settings& job, std::size_t changes) {
    const RunResult misses = run_of(job, 8);
    REQUIRE_FALSE(misses.fits);
    INFO(misses.fit_advice);
    Settings changed = job;
    const Settings advice = advised(misses.fit_advice);
    CHECK(advice.size() == changes);
    changed.insert(changed.end(), advice.begin(), advice.end());
    CHECK(run_of(changed, 8).fits);
  };
  check({"training.micro_batch=4"}, 1);
  // Recompute and micro-batch.
  check({"training.micro_batch=8", "training.sequence_length=16384"}, 2);
  // These, and P, G and OS.
  check({"training.micro_batch=8", "training.sequence_length=16384", "model=llama-13b"}, 5);
}

TEST_CASE("where nothing on these GPUs fits, that is said, and who says more") {
  const RunResult misses = run_of({"model=llama-65b"}, 8);
  CHECK(advised(misses.fit_advice).empty());
  CHECK_THAT(misses.fit_advice, Contains("make it fit on these GPUs (amsp plan says what would)"));
}
