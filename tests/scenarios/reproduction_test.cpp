// SPDX-License-Identifier: Apache-2.0
#include "scenarios/reproduction.hpp"

#include <catch2/catch.hpp>

#include "scenarios/efficiency_fit.hpp"
#include "scenarios/reproduction_bands.hpp"

using namespace amsp;
using Catch::Contains;

namespace {

ReproducedPoint published(const char* source, const char* system, int gpus, double tgs,
                          double published_tgs) {
  ReproducedPoint point;
  point.source = source;
  point.system = system;
  point.model = "LLaMA-13B";
  point.gpus = gpus;
  point.tgs = tgs;
  point.mfu = tgs / 4000;
  point.published_tgs = published_tgs;
  point.published_mfu = published_tgs / 4000;
  return point;
}

}  // namespace

TEST_CASE("kernel times are divided by a scenario's compute efficiency") {
  const Scenario plain = load_scenario("paper-7b-amsp");
  const Scenario slower = load_scenario("paper-7b-amsp", {"compute_efficiency=0.8"});
  const Machine fast(plain, 8), slow(slower, 8);
  for (const Op& op : schedule_of(plain, 8).ops)
    for (const Kernel& kernel : op.kernels) {
      const KernelEstimate a = fast.compute().estimate(kernel);
      const KernelEstimate b = slow.compute().estimate(kernel);
      REQUIRE(b.time / a.time == Approx(1.25));
      REQUIRE(b.low / a.low == Approx(1.25));
      REQUIRE(b.high / a.high == Approx(1.25));
      REQUIRE(b.range == a.range);
    }
  const RunResult run = run_scenario(slower, 8, {});
  REQUIRE_FALSE(run.notes.empty());
  CHECK_THAT(run.notes.front(), Contains("compute_efficiency of 0.8"));
  CHECK(run.manifest.find("\"compute_efficiency\":0.8") != std::string::npos);
  CHECK_THROWS_WITH(load_scenario("paper-7b-amsp", {"compute_efficiency=0"}),
                    Contains("/compute_efficiency"));
  CHECK_THROWS_WITH(load_scenario("paper-7b-amsp", {"compute_efficiency=97"}),
                    Contains("/compute_efficiency"));
}

TEST_CASE("a planted compute efficiency is found from its throughput") {
  for (const char* planted : {"0.7", "0.965", "1", "1.3"}) {
    const Scenario truth =
        load_scenario("paper-13b-amsp", {std::string("compute_efficiency=") + planted});
    const double tgs = run_scenario(truth, 8, {}).tgs;
    const double found = efficiency_for(load_scenario("paper-13b-amsp"), 8, tgs, {});
    CHECK(found == Approx(std::stod(planted)).margin(2e-5));
  }
  CHECK_THROWS_WITH(efficiency_for(load_scenario("paper-13b-amsp"), 8, 1e6, {}),
                    Contains("no compute_efficiency"));
}

TEST_CASE("the paper is reproduced as far as docs/reproduction.md says") {
  const Reproduction reproduction = reproduce({}, 2, true);
  REQUIRE(reproduction.fit);
  CHECK(reproduction.fit->model == "LLaMA-13B");
  CHECK(reproduction.fit->gpus == 8);
  CHECK(reproduction.fit->efficiency == Approx(0.9672).margin(5e-5));
  REQUIRE(reproduction.bands.size() == 4);
  CHECK(reproduction.bands[0].points == 9);
  CHECK(reproduction.bands[0].reached == Approx(0.042).margin(5e-4));
  CHECK(reproduction.bands[1].reached == Approx(0.0545).margin(5e-4));
  CHECK(reproduction.bands[2].reached == Approx(0.1995).margin(5e-4));
  CHECK(reproduction.bands[3].reached == 1);
  CHECK(reproduction.bands[3].points == 27);
}

TEST_CASE("the point that was fitted is not counted in any band") {
  std::vector<ReproducedPoint> points{published("Fig. 12", "AMSP", 8, 2000, 2000),
                                      published("Fig. 12", "AMSP", 32, 2200, 2000),
                                      published("text", "DeepSpeed-ZeRO-3", 8, 2100, 1500)};
  const auto before = reproduction_bands(points);
  CHECK(before[0].points == 2);
  CHECK(before[0].reached == Approx(0.05));
  CHECK(before[3].points == 1);
  CHECK(before[3].reached == 1);
  points.front().fitted = true;
  const auto after = reproduction_bands(points);
  CHECK(after[0].points == 1);
  CHECK(after[0].reached == Approx(0.1));
  CHECK(after[3].points == 0);
  CHECK_FALSE(after[3].holds());
}
