#include "scenarios/scenario.hpp"

#include <catch2/catch.hpp>

#include "scenarios/reference.hpp"
#include "scenarios/sweep.hpp"

using namespace amsp;
using Catch::Contains;

TEST_CASE("a scenario's keys are checked, with the nearest name") {
  CHECK_THROWS_WITH(load_scenario("paper-7b-amsp", {"trainning.micro_batch=1"}),
                    Contains("did you mean \"training\"?"));
  CHECK_THROWS_WITH(load_scenario("paper-7b-amsp", {"training.micro_batsh=1"}),
                    Contains("/training/micro_batsh") && Contains("micro_batch"));
  CHECK_THROWS_WITH(load_scenario("paper-7b-amsp", {"cluster=a800-4hrd"}),
                    Contains("did you mean \"a800-4hdr\"?"));
  CHECK_THROWS_WITH(load_scenario("paper-7b-amsp", {"gpus=0"}), Contains("/gpus"));
  CHECK_THROWS_WITH(load_scenario("paper-7b-amsp", {"no-equals"}), Contains("KEY=VALUE"));
  CHECK_THROWS_WITH(load_scenario("paper-7b-amps"), Contains("did you mean \"paper-7b-amsp\"?"));
}

TEST_CASE("settings change the scenario and its manifest's hash") {
  const Scenario base = load_scenario("paper-7b-amsp");
  const Scenario other = load_scenario("paper-7b-amsp", {"training.micro_batch=2"});
  CHECK(other.training.micro_batch == 2);
  CHECK(base.inputs.front().sha256 != other.inputs.front().sha256);
}

TEST_CASE("GPUs lie in one node or fill nodes") {
  const ClusterSpec cluster = load_cluster("a800-4hdr");
  CHECK(data_parallel_mesh(cluster, 7) == Mesh{7, 1});
  CHECK(data_parallel_mesh(cluster, 24) == Mesh{8, 3});
  CHECK_THROWS_WITH(data_parallel_mesh(cluster, 12), Contains("8 and 16"));
}

TEST_CASE("the reference table is read, text and Table V as printed") {
  const auto rows = load_reference();
  CHECK(reference_value(rows, {"AMSP", "LLaMA-7B"}, 1024, "TGS") == Approx(3476.6));
  CHECK(reference_value(rows, {"DeepSpeed-MiCS", "LLaMA-7B"}, 1024, "MFU") == Approx(0.35));
  CHECK_FALSE(reference_value(rows, {"AMSP", "LLaMA-7B"}, 9, "TGS"));
}

TEST_CASE("sweep axes and shards are parsed strictly") {
  const SweepAxis axis = parse_sweep_axis(R"(strategy=zero1,{"preset":"amsp","optimizer":"8x1"})");
  CHECK(axis.key == "strategy");
  REQUIRE(axis.values.size() == 2);
  CHECK(axis.values[1] == R"({"preset":"amsp","optimizer":"8x1"})");
  CHECK_THROWS_AS(parse_sweep_axis("strategy"), InputError);
  CHECK(parse_shard("1/4").index == 1);
  CHECK_THROWS_AS(parse_shard("4/4"), InputError);
  CHECK_THROWS_AS(parse_shard("x"), InputError);
}
