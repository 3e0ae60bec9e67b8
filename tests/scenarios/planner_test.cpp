#include "scenarios/planner.hpp"

#include <rapidcheck/catch.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "scenarios/lower_bound.hpp"
#include "sim/partition.hpp"
#include "sim/problem_builder.hpp"
#include "workloads/generator.hpp"

using namespace amsp;

namespace {

// A small model, so that exhaustive simulation is cheap.
ModelShape tiny_model() {
  return parse_model(JsonValue::parse_text(R"({"layers": 3, "hidden": 1024, "heads": 16,
      "intermediate": 2816, "vocabulary": 8000})",
                                           "tiny"),
                     "tiny");
}

PlanRequest tiny_request(int gpus) {
  PlanRequest request;
  request.model = tiny_model();
  request.cluster = load_cluster("a800-4hdr");
  request.calibration = "a800-4hdr";
  request.gpus = gpus;
  request.training.sequence_length = 1024;
  request.training.global_batch = 64;
  request.micro_batch_sizes = {1, 2};
  request.recompute = {Recompute::none, Recompute::full};
  return request;
}

}  // namespace

TEST_CASE("the space of meshes is the paper's, counted by hand for 2 x 2") {
  // P and OS from 1x1, 2x1, 2x2; G is P or OS: 3 pairs of equals, 3 unequal pairs with two choices.
  CHECK(mesh_choices({2, 2}).size() == 9);
  CHECK(component_meshes({8, 128}).size() == 11);
  for (const MeshChoice& choice : mesh_choices({8, 4})) {
    Strategy strategy;
    strategy.parameters = choice.parameters;
    strategy.gradients = choice.gradients;
    strategy.optimizer = choice.optimizer;
    CHECK_NOTHROW(check_strategy(strategy, {8, 4}));
  }
}

TEST_CASE("the optimum is that of exhaustive simulation") {
  for (const int gpus : {4, 16}) {
    PlanRequest request = tiny_request(gpus);
    request.top = 3;
    const Plan plan = make_plan(request);
    PlanRequest all = request;
    all.top = 1000000;  // nothing is pruned
    const Plan exhaustive = make_plan(all);
    CHECK(exhaustive.pruned == 0);
    CHECK(exhaustive.candidates == exhaustive.equal + exhaustive.too_large + exhaustive.simulated);
    CHECK(plan.candidates == plan.equal + plan.too_large + plan.pruned + plan.simulated);
    CHECK(plan.candidates == exhaustive.candidates);
    CHECK(plan.simulated < exhaustive.simulated);
    REQUIRE(plan.best.size() == 3);
    for (std::size_t i = 0; i < plan.best.size(); ++i) {
      INFO("gpus " << gpus << " place " << i);
      CHECK(plan.best[i].run.step_time == exhaustive.best[i].run.step_time);
      CHECK(plan.best[i].candidate.meshes == exhaustive.best[i].candidate.meshes);
    }
    for (const PlannedRun& planned : exhaustive.best)
      CHECK(planned.bound.value() <= planned.run.step_time.value() * (1 + 1e-9));
  }
}

TEST_CASE("the lower bound is never above the simulated time") {
  const Machine machine(load_cluster("a800-4hdr"), "a800-4hdr", 16);
  rc::prop("for random meshes, switches, shapes, micro-batches and recompute", [&machine] {
    const auto choices = mesh_choices({8, 2});
    const MeshChoice meshes = choices[*rc::gen::inRange<std::size_t>(0, choices.size())];
    Training training;
    training.sequence_length = 512;
    training.micro_batch = *rc::gen::element<std::int64_t>(1, 2, 4);
    training.recompute = *rc::gen::element(Recompute::none, Recompute::selective, Recompute::full);
    const auto accumulated = *rc::gen::inRange<std::int64_t>(1, 6);  // M
    training.global_batch = 16 * training.micro_batch * accumulated;
    Strategy strategy = strategy_of(
        {meshes, training.micro_batch, training.recompute, *rc::gen::arbitrary<bool>()});
    strategy.overlap_all_reduce = *rc::gen::arbitrary<bool>();
    strategy.overlap_gather_scatter = *rc::gen::arbitrary<bool>();
    ModelShape model = tiny_model();
    model.layers = *rc::gen::inRange(1, 5);
    RC_TAG(std::to_string(training.micro_batch) + " recompute " +
           std::string(name_of(training.recompute)) + (accumulated > 1 ? " M > 1" : " M = 1"));
    const Schedule schedule = generate_schedule(model, training, strategy, {8, 2});
    const Seconds bound =
        step_time_bound(schedule, machine.network(), machine.collectives(), machine.compute());
    const RunResult run = machine.simulate(model, training, strategy, {}, {});
    const ReplayInput input{schedule, machine.network(), machine.collectives(), machine.compute()};
    const Unfolded unfolded = unfold(input);
    const Seconds tighter =
        step_time_bound(schedule, build_problem(input, unfolded, coarsest_partition(unfolded)));
    RC_ASSERT(tighter.value() <= run.step_time.value() * (1 + 1e-9));
    RC_ASSERT(bound > Seconds(0));
    RC_ASSERT(bound.value() <= run.step_time.value() * (1 + 1e-9));
    ReplayOptions brief;
    brief.fold_steps = true;
    const RunResult folded = machine.simulate(model, training, strategy, {}, brief);
    RC_ASSERT(std::abs(folded.step_time / run.step_time - 1) < 1e-10);
    RC_ASSERT(std::abs(folded.memory.peak / run.memory.peak - 1) < 1e-10);
  });
}

TEST_CASE("a batch that no micro-batch size divides is refused") {
  PlanRequest request = tiny_request(16);
  request.training.global_batch = 17;
  CHECK_THROWS_AS(make_plan(request), InputError);
}
