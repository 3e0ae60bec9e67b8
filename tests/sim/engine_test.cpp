// SPDX-License-Identifier: Apache-2.0
// The engine fluid and the replay core from below.
#include <catch2/catch.hpp>

#include "random_case.hpp"
#include "sim/problem_builder.hpp"
#include "sim/replayer.hpp"

using namespace amsp;

namespace {

// One collective over all GPUs of 4 nodes of 2, and one inside each node.
struct Fixture {
  ClusterSpec spec = toy::cluster(4, 2, 1);
  Network network = toy::network(spec);
  toy::RingModel collectives{microseconds(5), gigabytes_per_second(8), 0.1};
  toy::FixedModel compute;
  Schedule schedule;

  Fixture() {
    toy::Builder build(8);
    build.stream("compute", true);
    const StreamId comm = build.stream("comm", false);
    const CommId all = build.communicator("all", {{8, true}});
    const CommId inside = build.communicator("inside", {{2, true}, {4, false}});
    build.block("step", 3);
    build.compute("work", StreamId(0), milliseconds(1));
    build.collective("reduce", comm, all, CollectiveKind::all_reduce, Bytes(8e6));
    build.collective("gather", comm, inside, CollectiveKind::all_gather, Bytes(2e6));
    schedule = build.schedule;
  }
  [[nodiscard]] ReplayInput input() const { return {schedule, network, collectives, compute}; }
};

}  // namespace

TEST_CASE("Links carry what the closed form says") {
  const Fixture fixture;
  const ReplayInput input = fixture.input();
  const Unfolded all = unfold(input);
  const bool folded = GENERATE(false, true);
  const Partition partition = folded ? coarsest_partition(all) : trivial_partition(all);
  const Problem problem = build_problem(input, all, partition);
  const std::unique_ptr<Engine> engine = make_fluid_engine(problem);
  Replayer replayer(problem, input.perturbations, *engine,
                    {EngineKind::fluid, folded, false, false, false, 2});
  replayer.run();
  const std::vector<Bytes> carried = engine->carried();
  // Two steps of three repetitions. A ring of 8 over one channel sends 2 x 7/8 x 8 MB = 14 MB over
  // every edge; between nodes by the NIC. A ring of 2 sends 1/2 x 2 MB = 1 MB each way.
  int nic_links = 0;
  for (std::size_t l = 0; l < problem.links.size(); ++l) {
    const Link& link = fixture.network.links()[problem.links[l].representative.position()];
    if (link.kind != LinkKind::nic) continue;
    nic_links += problem.links[l].members;
    CHECK(carried[l].value() == Approx(6 * 14e6).epsilon(1e-12));
  }
  CHECK(nic_links == 8);  // in and out of four nodes
}

TEST_CASE("A symmetric job folds into one rank class, a slow GPU splits it as far as it must") {
  const Fixture fixture;
  ReplayInput input = fixture.input();
  const ReplayOptions options{EngineKind::fluid, true, false, true, false, 2};
  CHECK(replay(input, options).rank_classes.size() == 1);
  input.perturbations.slow_gpus.push_back({GpuId(5), 0.5});
  const ReplayResult split = replay(input, options);
  // The slow GPU, the other one of its node, and the six others.
  CHECK(split.rank_classes.size() == 3);
  CHECK(split.class_of_rank[5] != split.class_of_rank[4]);
  CHECK(split.class_of_rank[0] == split.class_of_rank[7]);
}

TEST_CASE("A task alone takes the time of its estimate") {
  const Fixture fixture;
  const ReplayResult result =
      replay(fixture.input(), {EngineKind::fluid, true, false, true, false, 1});
  // 5 us + 2 x 7/8 x 8 MB / 8 GB/s = 1.755 ms; 5 us + 1/2 x 2 MB / 8 GB/s = 0.130 ms.
  const OpRecord& reduce = toy::record(result, fixture.schedule, "reduce", 0);
  CHECK((reduce.end - reduce.start).value() == Approx(1.755e-3).epsilon(1e-12));
  const OpRecord& gather = toy::record(result, fixture.schedule, "gather", 3);
  CHECK((gather.end - gather.start).value() == Approx(0.130e-3).epsilon(1e-12));
}

TEST_CASE("A degraded link slows the tasks that are bound by it, and no others") {
  const Fixture fixture;
  ReplayInput input = fixture.input();
  for (const LinkId link : fixture.network.nic_links(NodeId(2), NicId(0)))
    input.perturbations.links.push_back({link, 0.4});
  const ReplayResult result = replay(input, {EngineKind::fluid, true, false, true, false, 1});
  // The ring wanted 8 of 10 GB/s, e = 0.8: its wire fills the healthy link. At 40 % it takes
  // 1 / 0.4 of the time.
  const OpRecord& reduce = toy::record(result, fixture.schedule, "reduce", 0);
  CHECK((reduce.end - reduce.start).value() == Approx(5e-6 + 1.75e-3 / 0.4).epsilon(1e-12));
  const OpRecord& gather = toy::record(result, fixture.schedule, "gather", 4);
  CHECK((gather.end - gather.start).value() == Approx(0.130e-3).epsilon(1e-12));
}

TEST_CASE("A second job takes its share of the links and leaves the rest alone") {
  const ClusterSpec spec = toy::cluster(2, 2, 1);
  const Network network = toy::network(spec);
  const toy::RingModel collectives(Seconds{}, gigabytes_per_second(10), 0);
  const toy::FixedModel compute;
  toy::Builder build(2);
  build.stream("compute", true);
  const CommId pair = build.communicator("pair", {{2, true}});
  build.block("step", 1);
  build.collective("reduce", StreamId(0), pair, CollectiveKind::all_reduce, Bytes(1e7));
  const Schedule schedule = build.schedule;
  const bool folded = GENERATE(true, false);
  const auto engine = GENERATE(EngineKind::fluid, EngineKind::simgrid);
  // Each job has a GPU on both nodes; both need the only NIC.
  ReplayInput input{schedule, network, collectives, compute, {GpuId(0), GpuId(2)}};
  const ReplayOptions options{engine, folded, false, true, false, 3};
  CHECK(replay(input, options).step_time.value() == Approx(1e-3).epsilon(1e-9));
  input.background.push_back({schedule, {GpuId(1), GpuId(3)}});
  CHECK(replay(input, options).step_time.value() == Approx(2e-3).epsilon(1e-9));
  input.background.back().gpu_of_rank = {GpuId(1), GpuId(2)};
  CHECK_THROWS_WITH(replay(input, options), Catch::Contains("two jobs use GPU 2"));
}

TEST_CASE("What cannot run is refused with names") {
  const Fixture fixture;
  SECTION("more ranks than GPUs") {
    const Network small = toy::network(toy::cluster(2, 2, 1));
    const ReplayInput input{fixture.schedule, small, fixture.collectives, fixture.compute};
    CHECK_THROWS_WITH(replay(input, {}), Catch::Contains("needs 8 GPUs"));
  }
  SECTION("a role that cuts through a group") {
    Schedule schedule = fixture.schedule;
    schedule.ops[1].role = Role{CommId(1), 0};
    const ReplayInput input{schedule, fixture.network, fixture.collectives, fixture.compute};
    CHECK_THROWS_WITH(replay(input, {}),
                      Catch::Contains("op \"reduce\"") && Catch::Contains("4 of the 8 members"));
  }
  SECTION("a deadlock names the ops and what they wait for") {
    // No schedule can deadlock (docs/model/70-engines.md); a broken problem can: rank 3 never
    // comes to the collective.
    const ReplayInput input = fixture.input();
    const Unfolded all = unfold(input);
    Problem problem = build_problem(input, all, trivial_partition(all));
    for (auto& positions : problem.ranks[3].lanes[1].positions) positions.clear();
    const std::unique_ptr<Engine> engine = make_fluid_engine(problem);
    Replayer replayer(problem, input.perturbations, *engine, {});
    CHECK_THROWS_WITH(
        replayer.run(),
        Catch::Contains("deadlocks") && Catch::Contains("\"reduce\" waits for the other members"));
  }
}
