// SPDX-License-Identifier: Apache-2.0
// The planner against an enumeration of its own: meshes from the rules as the paper states them
// (arXiv:2311.00257v2, V-B and IV-C), each simulated in full as `amsp simulate` would.
#include <catch2/catch.hpp>

#include "scenarios/planner.hpp"

using namespace amsp;

namespace {

struct Setting {
  const char* shape;
  int gpus;
  std::int64_t global_batch;
};

ModelShape shape_of(const Setting& setting) {
  return parse_model(JsonValue::parse_text(setting.shape, "shape"), "shape");
}

// All numbers of GPUs and nodes, whether or not they make sense, then the rules one by one.
std::vector<MeshChoice> by_the_rules(int inside, int across) {
  std::vector<Mesh> all;
  for (int i = 1; i <= inside; ++i)
    for (int j = 1; j <= across; ++j) all.push_back({i, j});
  std::vector<MeshChoice> result;
  const auto divides = [&](Mesh m) { return inside % m.inside == 0 && across % m.across == 0; };
  const auto fills = [&](Mesh m) { return m.across == 1 || m.inside == inside; };
  const auto ordered = [](Mesh a, Mesh b) {
    return a.inside <= b.inside && a.across <= b.across && b.inside % a.inside == 0 &&
           b.across % a.across == 0;
  };
  for (const Mesh p : all)
    for (const Mesh g : all)
      for (const Mesh os : all)
        if (divides(p) && divides(g) && divides(os) && fills(p) && fills(g) && fills(os) &&
            ordered(p, g) && ordered(g, os) && (g == p || g == os))
          result.push_back({p, g, os});
  return result;
}

}  // namespace

TEST_CASE("the planner finds the optimum of an independent enumeration") {
  const Setting settings[] = {
      {R"({"layers": 2, "hidden": 1024, "heads": 16, "intermediate": 2816, "vocabulary": 8000})", 8,
       32},
      {R"({"layers": 3, "hidden": 2048, "heads": 16, "intermediate": 5504, "vocabulary": 16000})",
       16, 32}};
  for (const Setting& setting : settings) {
    PlanRequest request;
    request.model = shape_of(setting);
    request.cluster = load_cluster("a800-4hdr");
    request.calibration = "a800-4hdr";
    request.gpus = setting.gpus;
    request.training.sequence_length = 1024;
    request.training.global_batch = setting.global_batch;
    request.micro_batch_sizes = {1, 2};
    request.recompute = {Recompute::none};
    request.top = 1;
    const Plan plan = make_plan(request);
    const Machine machine(request.cluster, request.calibration, setting.gpus);
    Seconds best(1e9);
    std::int64_t count = 0;
    for (const MeshChoice& meshes : by_the_rules(8, setting.gpus / 8))
      for (const std::int64_t micro_batch : {1, 2})
        for (const bool overlap : {false, true}) {
          ++count;
          Training training = request.training;
          training.micro_batch = micro_batch;
          Strategy strategy;
          strategy.name = "enumerated";
          strategy.parameters = meshes.parameters;
          strategy.gradients = meshes.gradients;
          strategy.optimizer = meshes.optimizer;
          strategy.inter_tensor_ownership = true;
          strategy.overlap_broadcast = overlap;
          const RunResult run = machine.simulate(request.model, training, strategy, {}, {});
          if (run.fits) best = std::min(best, run.step_time);
        }
    CHECK(plan.candidates == count);
    REQUIRE(plan.best.size() == 1);
    CHECK(plan.best[0].run.step_time.value() == Approx(best.value()).epsilon(1e-10));
  }
}

TEST_CASE("equal candidates are one, whatever the lists repeat") {
  PlanRequest request;
  request.model = shape_of({R"({"layers": 1, "hidden": 512, "heads": 8, "intermediate": 1024,
      "vocabulary": 1000})",
                            8, 8});
  request.cluster = load_cluster("a800-4hdr");
  request.calibration = "a800-4hdr";
  request.training.sequence_length = 512;
  request.training.global_batch = 16;
  request.micro_batch_sizes = {1, 1, 2};
  request.recompute = {Recompute::none, Recompute::none};
  request.top = 1000;
  const Plan plan = make_plan(request);
  // 1, 2, 4, 8: ten pairs P within OS, six of them with two choices of G; 2 micro-batches; 2
  // overlaps.
  CHECK(plan.candidates == 64);
  CHECK(plan.equal == 8);  // P = OS: four meshes, two micro-batches
  CHECK(plan.best.size() == 56);
}

TEST_CASE("a reserve that leaves no memory is refused; what does not fit says what would") {
  PlanRequest request;
  request.model = load_model("llama-7b");
  request.cluster = load_cluster("a800-4hdr");
  request.calibration = "a800-4hdr";
  request.training.global_batch = 64;
  request.micro_batch_sizes = {8};
  request.recompute = {Recompute::none};
  request.training.memory_reserve = gibibytes(500);
  CHECK_THROWS_AS(make_plan(request), InputError);
  request.training.memory_reserve = gibibytes(2);
  const Plan plan = make_plan(request);
  CHECK(plan.best.empty());
  CHECK(plan.candidates == plan.equal + plan.too_large + plan.simulated);
  CHECK(plan.nothing_fits.find("would fit") != std::string::npos);
}
