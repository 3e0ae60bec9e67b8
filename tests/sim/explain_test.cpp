// SPDX-License-Identifier: Apache-2.0
// Analyses of the step that pencil_test.cpp works out by hand.
#include "sim/explain.hpp"

#include <rapidcheck/catch.h>

#include <catch2/catch.hpp>
#include <stdexcept>

#include "random_case.hpp"
#include "sim/analysis.hpp"
#include "sim/repetitions.hpp"
#include "toy.hpp"

using namespace amsp;

namespace {

struct Fixture {
  ClusterSpec spec = toy::cluster(1, 2, 1);
  Network network = toy::network(spec);
  toy::RingModel collectives{microseconds(10), gigabytes_per_second(50), 0.2};
  toy::FixedModel compute;
  Schedule schedule = toy::one_layer(true);
  [[nodiscard]] ReplayInput input() const { return {schedule, network, collectives, compute}; }
};

double saving(const Explanation& explanation, const std::string& resource) {
  for (const Saving& saving : explanation.savings)
    if (saving.resource == resource) return saving.step_time.value() * 1e3;
  FAIL("no saving for " << resource);
  return 0;
}

}  // namespace

TEST_CASE("The critical path and what would shorten it") {
  const Fixture fixture;
  const Explanation explanation = explain(fixture.input(), {});
  std::vector<std::string> path;
  for (const PathStep& step : explanation.path) path.push_back(fixture.schedule.op(step.op).name);
  CHECK(path == std::vector<std::string>{"gather", "forward", "backward", "update"});
  Seconds total;
  for (const PathShare& share : explanation.shares) total += share.time;
  CHECK(total.value() == Approx(8.610e-3).epsilon(1e-9));
  CHECK(explanation.shares.front().what == "compute");
  CHECK(explanation.shares.front().time.value() == Approx(7.6e-3).epsilon(1e-9));
  CHECK(explanation.waits.empty());
  // Compute free: gather, scatter and reduce follow each other, 1.010 + 1.010 + 2.010 ms.
  CHECK(saving(explanation, "compute") == Approx(4.030).epsilon(1e-9));
  CHECK(saving(explanation, "latency of collectives") == Approx(8.600).epsilon(1e-9));
  // Links free: 0.010 + 2 + 4 + 1 ms.
  CHECK(saving(explanation, "all links") == Approx(7.010).epsilon(1e-6));
  CHECK(saving(explanation, "NICs") == Approx(8.610).epsilon(1e-9));
  CHECK(explanation.savings.front().resource == "compute");
}

TEST_CASE("The critical path has no gap across repetitions and blocks") {
  toy::Builder build(2);
  const StreamId compute = build.stream("compute", true);
  build.communicator("pair", {{2, true}});
  for (const char* block : {"first", "next", "last"}) {
    build.block(block, std::string(block) == "next" ? 4 : 1);
    build.compute(std::string(block) + ".a", compute, milliseconds(1));
    build.compute(std::string(block) + ".b", compute, milliseconds(2));
  }
  const Fixture fixture;
  const ReplayInput input{build.schedule, fixture.network, fixture.collectives, fixture.compute};
  const Explanation explanation = explain(input, {});
  CHECK(explanation.path.size() == 12);
  REQUIRE(explanation.shares.size() == 1);
  CHECK(explanation.shares[0].time.value() == Approx(18e-3).epsilon(1e-9));
}

TEST_CASE("What-if figures are those of a run with that resource infinitely fast") {
  rc::prop("compute, latency and links, whatever is perturbed", [] {
    const auto seed = *rc::gen::inRange<std::uint64_t>(0, 1000000000);
    const toy::Case one(seed, {.placed = true, .jitter = true});
    const ReplayOptions options{EngineKind::fluid, true, false, true, false, 3};
    const Explanation explanation = explain(one.input(), options);
    const auto saved = [&](const std::string& resource) {
      for (const Saving& saving : explanation.savings)
        if (saving.resource == resource) return saving;
      throw std::logic_error(resource);
    };
    const auto check = [&](const std::string& resource, const ReplayInput& input) {
      const Seconds time = replay(input, options).step_time;
      const Seconds step = explanation.result.step_time;
      RC_ASSERT(std::abs((saved(resource).step_time - time).value()) <= 1e-8 * step.value());
      RC_ASSERT(saved(resource).saved == step - saved(resource).step_time);
    };
    Schedule timeless = one.schedule;
    for (Op& op : timeless.ops)
      for (Kernel& kernel : op.kernels) kernel.duration = Seconds{};
    check("compute", {timeless, one.network, one.collectives, one.compute, one.gpu_of_rank,
                      one.perturbations});
    const toy::RingModel prompt = one.collectives.without_latency();
    check("latency of collectives",
          {one.schedule, one.network, prompt, one.compute, one.gpu_of_rank, one.perturbations});
    ReplayInput fast = one.input();
    for (std::size_t l = 0; l < one.network.links().size(); ++l)
      if (one.network.links()[l].kind == LinkKind::nic)
        fast.perturbations.links.push_back({LinkId(l), 1e9});
    check("NICs", fast);
  });
}

TEST_CASE("The critical path covers the step, also of a perturbed job") {
  rc::prop("each stretch ends where the next begins; shares sum to the step", [] {
    const auto seed = *rc::gen::inRange<std::uint64_t>(0, 1000000000);
    const toy::Case one(seed, {.placed = true, .jitter = true});
    const Explanation explanation =
        explain(one.input(), {EngineKind::fluid, true, false, true, false, 3});
    const ReplayResult& result = explanation.result;
    Seconds sum;
    for (const PathShare& share : explanation.shares) sum += share.time;
    RC_ASSERT(std::abs((sum - result.step_time).value()) <= 1e-9 * result.step_time.value());
    for (std::size_t i = 0; i + 1 < explanation.path.size(); ++i)
      RC_ASSERT(explanation.path[i].end <= explanation.path[i + 1].begin + result.step_time * 1e-9);
    for (const Waiting& wait : explanation.waits) {
      RC_ASSERT(wait.waits != wait.for_rank);
      RC_ASSERT(wait.time > Seconds{});
    }
  });
}

TEST_CASE("Who waits for whom") {
  const Fixture fixture;
  ReplayInput input = fixture.input();
  input.perturbations.slow_gpus.push_back({GpuId(1), 0.5});
  const Explanation explanation = explain(input, {});
  REQUIRE(explanation.waits.size() == 1);
  CHECK(explanation.waits[0].waits == Rank(0));
  CHECK(explanation.waits[0].for_rank == Rank(1));
  // scatter waits for rank 1's forward (2 ms more), gather for its backward and update.
  CHECK(explanation.waits[0].time.value() > 2e-3);
  CHECK(explanation.path.back().rank == Rank(1));
}

TEST_CASE("Exposed communication is what computation waits for") {
  const Fixture fixture;
  const ReplayResult result = replay(fixture.input(), {});
  const ExposedCommunication exposed = exposed_communication(fixture.schedule, result);
  CHECK(exposed.total.value() == Approx(1.010e-3).epsilon(1e-9));
  REQUIRE(exposed.by_collective.size() == 1);
  CHECK(exposed.by_collective.at("all_gather").value() == Approx(1.010e-3).epsilon(1e-9));
}

TEST_CASE("What runs on behind the last computation of the only step is named") {
  toy::Builder build(2);
  const StreamId compute = build.stream("compute", true);
  const StreamId comm = build.stream("comm", false);
  const CommId pair = build.communicator("pair", {{2, true}});
  build.block("step", 1);
  const OpId work = build.compute("work", compute, milliseconds(2), {});
  build.collective("first", comm, pair, CollectiveKind::all_gather, Bytes(1e8), {work});
  build.collective("second", comm, pair, CollectiveKind::all_gather, Bytes(1e8), {work});
  const Fixture fixture;
  const ReplayInput input{build.schedule, fixture.network, fixture.collectives, fixture.compute};
  ReplayOptions options;
  options.steps = 1;
  const ReplayResult result = replay(input, options);
  CHECK(result.step_time.value() == Approx(2e-3 + 2 * 1.010e-3).epsilon(1e-9));
  const ExposedCommunication exposed = exposed_communication(build.schedule, result);
  REQUIRE(exposed.by_collective.size() == 1);
  CHECK(exposed.by_collective.at("all_gather").value() == Approx(2 * 1.010e-3).epsilon(1e-9));
}

TEST_CASE("Exposed communication counts repetitions that were not replayed") {
  toy::Builder build(2);
  const StreamId compute = build.stream("compute", true);
  const StreamId comm = build.stream("comm", false);
  const CommId pair = build.communicator("pair", {{2, true}});
  build.block("micro_batch", 100);
  const OpId gather =
      build.collective("gather", comm, pair, CollectiveKind::all_gather, Bytes(1e8));
  const OpId work = build.compute("work", compute, milliseconds(2), {gather});
  build.schedule.ops[gather.position()].after.push_back(work);
  const Fixture fixture;
  const ReplayInput input{build.schedule, fixture.network, fixture.collectives, fixture.compute};
  const ReplayResult result = replay(input, {});
  CHECK(result.repeats_folded);
  CHECK(result.records.size() < 200);
  CHECK(result.step_time.value() == Approx(100 * 3.010e-3).epsilon(1e-9));
  const ExposedCommunication exposed = exposed_communication(build.schedule, result);
  CHECK(exposed.by_collective.at("all_gather").value() == Approx(100 * 1.010e-3).epsilon(1e-9));
}

TEST_CASE("Memory over time") {
  Fixture fixture;
  fixture.schedule.persistent.push_back({MemoryComponent::parameters, Bytes(1000)});
  fixture.schedule.ops[0].memory.push_back(
      {MemoryComponent::gathered_parameters, Bytes(100), true});
  fixture.schedule.ops[3].memory.push_back({MemoryComponent::activations, Bytes(50), true});
  fixture.schedule.ops[3].memory.push_back({MemoryComponent::activations, Bytes(-50), false});
  fixture.schedule.ops[5].memory.push_back(
      {MemoryComponent::gathered_parameters, Bytes(-100), false});
  const ReplayResult result = replay(fixture.input(), {});
  const MemoryTimeline memory = memory_timeline(fixture.schedule, result);
  CHECK(memory.peak == Bytes(1150));
  CHECK((memory.peak_time - result.period_start).value() == Approx(3.010e-3).epsilon(1e-9));
  CHECK(memory.at_peak.at(MemoryComponent::activations) == Bytes(50));
  CHECK(memory.points.back().total == Bytes(1000));
}

TEST_CASE("Repetitions with jitter have a mean and a confidence interval") {
  const Fixture fixture;
  ReplayInput input = fixture.input();
  input.perturbations.kernel_jitter = 0.05;
  const RepeatedReplay repeated = replay_repeatedly(fixture.schedule, 20, [&](int i) {
    input.perturbations.seed = 1 + static_cast<std::uint64_t>(i);
    return replay(input, {});
  });
  CHECK(repeated.step_times.size() == 20);
  CHECK(repeated.step_time.deviation > Seconds{});
  // Jitter has mean 1, but a step waits for the slower of two ranks.
  CHECK(repeated.step_time.mean.value() == Approx(8.610e-3).epsilon(0.05));
  CHECK(repeated.step_time.half_width < repeated.step_time.mean * 0.03);
  CHECK(student_quantile(9) == Approx(1.833).epsilon(1e-3));  // any table of Student's t
  // Exposed communication is the mean of the same repetitions, and its parts sum to it.
  Seconds sum;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    input.perturbations.seed = seed;
    sum += exposed_communication(fixture.schedule, replay(input, {})).total;
  }
  const ExposedCommunication exposed = repeated.mean_exposed();
  CHECK(exposed.total.value() == Approx(sum.value() / 20).epsilon(1e-12));
  Seconds parts;
  for (const auto& [kind, time] : exposed.by_collective) parts += time;
  CHECK(parts.value() == Approx(exposed.total.value()).epsilon(1e-12));
  CHECK(repeated.exposed.at("total").half_width > Seconds{});
}
