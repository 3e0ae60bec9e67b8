// SPDX-License-Identifier: Apache-2.0
// Every ring step a communication on SimGrid, against the fluid model.
#include <catch2/catch.hpp>

#include "toy.hpp"

using namespace amsp;

namespace {

Seconds step_time(const Schedule& schedule, const ClusterSpec& spec, bool messages) {
  const Network network = toy::network(spec);
  const toy::RingModel collectives(microseconds(5), gigabytes_per_second(8), 0.1);
  const toy::FixedModel compute;
  const ReplayInput input{schedule, network, collectives, compute};
  if (!messages) return replay(input, {EngineKind::fluid, true, false, true, false, 1}).step_time;
  return replay(input, {EngineKind::simgrid, false, true, true, false, 1}).step_time;
}

Schedule one_collective(int ranks, CollectiveKind kind, Bytes bytes) {
  toy::Builder build(ranks);
  const StreamId stream = build.stream("compute", true);
  const CommId all = build.communicator("all", {{ranks, true}});
  build.block("step", 1);
  build.collective("it", stream, all, kind, bytes);
  return build.schedule;
}

}  // namespace

TEST_CASE("A ring alone takes the same time as messages") {
  const ClusterSpec spec = toy::cluster(3, 2, 1);
  const auto kind = GENERATE(CollectiveKind::all_reduce, CollectiveKind::all_gather,
                             CollectiveKind::reduce_scatter);
  const Schedule schedule = one_collective(6, kind, Bytes(6e7));
  // All edges of a ring are equally busy in every step, so that no step waits.
  CHECK(step_time(schedule, spec, true).value() ==
        Approx(step_time(schedule, spec, false).value()).epsilon(1e-6));
}

TEST_CASE("A chain takes longer as messages by the filling of its pipeline") {
  const ClusterSpec spec = toy::cluster(3, 2, 1);
  const Schedule schedule = one_collective(6, CollectiveKind::broadcast, Bytes(64 * 1048576.0));
  const double fluid = step_time(schedule, spec, false).value();
  const double messages = step_time(schedule, spec, true).value();
  // 64 slices over 5 hops: at most 4 slices more than the fluid model.
  CHECK(messages >= fluid * (1 - 1e-9));
  CHECK(messages <= fluid * (1 + 4.0 / 64));
}

TEST_CASE("Competing rings agree within 10 % with messages") {
  const ClusterSpec spec = toy::cluster(4, 2, 1);
  toy::Builder build(8);
  const StreamId compute = build.stream("compute", true);
  const StreamId one = build.stream("one", false);
  const StreamId two = build.stream("two", false);
  const CommId all = build.communicator("all", {{8, true}});
  const CommId across = build.communicator("across", {{2, false}, {4, true}});
  build.block("step", 2);
  build.compute("work", compute, milliseconds(3));
  build.collective("reduce", one, all, CollectiveKind::all_reduce, Bytes(4e7));
  build.collective("scatter", two, across, CollectiveKind::reduce_scatter, Bytes(3e7));
  build.collective("gather", two, across, CollectiveKind::all_gather, Bytes(3e7));
  CHECK(step_time(build.schedule, spec, true).value() ==
        Approx(step_time(build.schedule, spec, false).value()).epsilon(0.10));
}
