#include "scenarios/scenario.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "base/file.hpp"
#include "scenarios/reference.hpp"
#include "scenarios/run.hpp"
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

TEST_CASE("a value of a strategy that is a preset's name is set in that preset") {
  const Scenario named = load_scenario("paper-7b-zero1");
  const Scenario same = load_scenario("paper-7b-zero1", {"strategy.bucket=1000000000B"});
  const Mesh mesh{8, 8};
  CHECK(to_json(parse_strategy(same.strategy, mesh)) ==
        to_json(parse_strategy(named.strategy, mesh)));
  CHECK_THROWS_WITH(load_scenario("paper-7b-zero1", {"cluster.nodes=4"}),
                    Contains("\"cluster\" is \"a800-4hdr\", not an object"));
}

TEST_CASE("a placement file's content is in the manifest") {
  const auto file = std::filesystem::temp_directory_path() /
                    ("placement-" + std::to_string(::getpid()) + ".json");
  const auto manifest = [&](const char* text) {
    write_file(file, text);
    const std::string written = manifest_of(
        load_scenario("paper-7b-amsp", {"perturbations.placement=" + file.string()}), {});
    std::filesystem::remove(file);
    return written;
  };
  CHECK(manifest("[0, 1]") == manifest("[0, 1]"));
  CHECK(manifest("[0, 1]") != manifest("[1, 0]"));
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

TEST_CASE("a reference goes with the job that was published, and with no other") {
  const auto lost = [](const std::vector<std::string>& settings) {
    const Scenario scenario = load_scenario("paper-7b-amsp", settings);
    CHECK(scenario.reference.has_value() == scenario.reference_lost_by.empty());
    return scenario.reference_lost_by;
  };
  CHECK(lost({}).empty());
  for (const char* same :
       {"gpus=512", "calibration=null", "compute_efficiency=0.9", "training.memory_reserve=4GiB",
        "training.micro_batch=1", "strategy.optimizer=8x1", "perturbations.kernel_jitter=0.1",
        "perturbations.repetitions=3", "perturbations.seed=3", "description=mine",
        "training.global_batch=4194304 tokens", "training.recompute=none",
        "strategy.optimizer=node"}) {
    INFO(same);
    CHECK(lost({same}).empty());
  }
  CHECK(lost({"training.micro_batch=2"}) == "training");
  CHECK(lost({"training.sequence_length=8192", "model=llama-13b"}) == "model, training");
  CHECK(lost({"strategy=zero3"}) == "strategy");
  CHECK(lost({"cluster=dgx-h100"}) == "cluster");
  CHECK(lost({R"(perturbations.slow_gpus=[{"gpu": 1, "speed": 0.5}])"}) ==
        "perturbations.slow_gpus");
  CHECK(lost({"training.global_batch=4198400 tokens"}) == "training");
  CHECK(lost({"strategy.optimizer=all"}) == "strategy");  // 8x1 only on 8 GPUs
  // The same cluster by path, and under another name; another one.
  CHECK(lost({"cluster=" + (data_folder("topologies") / "a800-4hdr.json").string()}).empty());
  ClusterSpec cluster = load_cluster("a800-4hdr");
  cluster.name = "mine";
  CHECK(lost({"cluster=" + to_json(cluster)}).empty());
  cluster.node.nics.pop_back();
  CHECK(lost({"cluster=" + to_json(cluster)}) == "cluster");
  // Who says what to compare with is taken at their word.
  CHECK(lost({"strategy=zero3", "reference.system=DeepSpeed-ZeRO-3"}).empty());
  CHECK(load_scenario("paper-7b-mics", {"strategy.optimizer=8x1"}).reference.has_value());
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
