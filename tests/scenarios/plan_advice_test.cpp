// What is advised is checked by planning it: it fits, and nothing smaller does.
#include "scenarios/plan_advice.hpp"

#include <catch2/catch.hpp>
#include <tuple>

using namespace amsp;
using Catch::Contains;

namespace {

PlanRequest request_of(int gpus, std::int64_t batch, Bytes left) {
  PlanRequest request;
  request.model = load_model("llama-3.2-1b");
  request.cluster = load_cluster("a800-4hdr");
  request.calibration = "a800-4hdr";
  request.gpus = gpus;
  request.training.sequence_length = 1024;
  request.training.global_batch = batch;
  request.training.memory_reserve = request.cluster.node.gpu.memory - left;
  request.micro_batch_sizes = {1};
  request.recompute = {Recompute::none, Recompute::full};
  request.top = 1;
  return request;
}

bool fits(const PlanRequest& request) { return !make_plan(request).best.empty(); }

// The number behind an option of the first advice; 0 where it is not among them.
std::int64_t advised(const std::string& advice, const std::string& option) {
  const std::string one = advice.substr(advice.find("leaves; "));
  const auto at = one.find(option + " ");
  if (at == std::string::npos || at > one.find(" would fit")) return 0;
  return std::stoll(one.substr(at + option.size() + 1));
}

}  // namespace

TEST_CASE("a plan that misses says by how much, and the least number of GPUs that fits") {
  for (const double left : {8.0, 4.5}) {
    PlanRequest request = request_of(2, 96, gibibytes(left));
    const Plan plan = make_plan(request);
    REQUIRE(plan.best.empty());
    INFO(plan.nothing_fits);
    CHECK_THAT(plan.nothing_fits, Contains("misses by least (P 2x1, G 2x1, OS 2x1"));
    const auto gpus = static_cast<int>(advised(plan.nothing_fits, "--gpus"));
    REQUIRE(gpus > 2);
    for (int fewer = 3; fewer < gpus; ++fewer) {
      request.gpus = fewer;
      if ((fewer <= 8 || fewer % 8 == 0) && 96 % fewer == 0) CHECK_FALSE(fits(request));
    }
    request.gpus = gpus;
    CHECK(fits(request));
  }
}

TEST_CASE("a batch that the GPUs cannot share is raised with them") {
  for (const auto& [gpus, left, more] : {std::tuple{4, 5.0, 8}, {1, 16.0, 2}}) {
    PlanRequest request = request_of(gpus, gpus, gibibytes(left));
    const std::string advice = plan_advice(request);
    INFO(advice);
    request.gpus = static_cast<int>(advised(advice, "--gpus"));
    request.training.global_batch = advised(advice, "--global-batch");
    CHECK(request.gpus == more);
    CHECK(request.training.global_batch == request.gpus);
    CHECK(fits(request));
  }
}

TEST_CASE("settings that were not asked for come first, then a shorter sequence") {
  PlanRequest request = request_of(8, 64, gibibytes(8));
  request.micro_batch_sizes = {8};
  request.recompute = {Recompute::none};
  const std::string settings = plan_advice(request);
  INFO(settings);
  CHECK(advised(settings, "--micro-batch") == 1);
  request.micro_batch_sizes = {1};
  CHECK(fits(request));

  request = request_of(8, 64, gibibytes(8));
  request.training.sequence_length = 262144;
  const std::string advice = plan_advice(request);
  CHECK_THAT(advice, Contains("no number of GPUs up to 16384 makes it fit, but --seq-len"));
  const std::string shorter = advice.substr(advice.find("--seq-len ") + 10);
  request.training.sequence_length = std::stoll(shorter) * 2;
  CHECK_FALSE(fits(request));
  request.training.sequence_length /= 2;
  CHECK(fits(request));
}

TEST_CASE("where neither more GPUs nor a shorter sequence alone do, both together") {
  PlanRequest request = request_of(8, 8, gibibytes(77.9));
  request.model = load_model("llama-65b");
  request.training.sequence_length = 262144;
  const std::string advice = plan_advice(request);
  INFO(advice);
  CHECK_THAT(advice, Contains("no number of GPUs up to 16384 makes it fit, nor does a shorter "
                              "sequence alone, but --seq-len"));
  const auto number = [&advice](const std::string& option) {
    return std::stoll(advice.substr(advice.find(option + " ") + option.size() + 1));
  };
  request.gpus = static_cast<int>(number("--gpus"));
  request.training.global_batch = request.gpus;
  request.training.sequence_length = number("--seq-len");
  CHECK(fits(request));
  request.training.sequence_length *= 2;
  CHECK_FALSE(fits(request));
  request.training.sequence_length /= 2;
  request.gpus /= 2;
  request.training.global_batch = request.gpus;
  CHECK_FALSE(fits(request));
}

TEST_CASE("one node without a fabric is not enlarged") {
  PlanRequest request = request_of(8, 64, gibibytes(3));
  request.cluster.fabric.kind = FabricKind::none;
  CHECK_THAT(plan_advice(request), Contains("no number of GPUs up to 8 makes it fit"));
}
