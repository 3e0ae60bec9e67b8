// SPDX-License-Identifier: Apache-2.0
// A one-layer model on two GPUs, worked out with pencil and paper.
#include <catch2/catch.hpp>

#include "toy.hpp"

using namespace amsp;

namespace {

void check(const ReplayResult& result, const Schedule& schedule, const char* name, int step,
           double start_ms, double end_ms) {
  for (int rank = 0; rank < 2; ++rank) {
    const OpRecord& one = toy::record(result, schedule, name, rank, step);
    INFO(name << " in step " << step << " on rank " << rank);
    CHECK(one.start.value() * 1e3 == Approx(start_ms).epsilon(1e-9));
    CHECK(one.end.value() * 1e3 == Approx(end_ms).epsilon(1e-9));
  }
}

}  // namespace

// Two GPUs of one node, links of 100 GB/s. Collectives: latency 10 us, bus rate 50 GB/s, 20 % of
// the SMs. n = 2: an all-gather or a reduce-scatter of 100 MB moves 1/2 x 100 MB = 50 MB through
// every GPU: 1 ms; an all-reduce of 100 MB moves 100 MB: 2 ms.
//
// compute: forward (2 ms) after gather;  backward (4 ms);  update (1 ms) after reduce
// comm:    gather (AG 100 MB);           scatter (RS 100 MB) after forward (runs beside backward)
// grads:   reduce (AR 100 MB) after scatter
//
//   gather   0      .. 1.010  (10 us latency + 1 ms)
//   forward  1.010  .. 3.010
//   scatter  3.010  .. 4.020  (fluid from 3.020 to 4.020)
//   backward 3.010: 10 us at full speed (done 0.010), then 1 ms at rate 0.8 (done 0.810) until
//            4.020; reduce's latency is 10 us: full speed (done 0.820) until 4.030; then 2 ms of
//            all-reduce at rate 0.8 (done 2.420) until 6.030; the rest, 4 - 2.420 = 1.580 ms, at
//            full speed: 7.610
//   reduce   4.020  .. 6.030
//   update   7.610  .. 8.610
// The second step is the first, 8.610 ms later: gather waits for nothing but its stream, so it
// starts right after scatter, at 4.020: it shares the links with reduce. See below.
TEST_CASE("A one-layer step on two GPUs takes the time worked out by hand") {
  const ClusterSpec cluster = toy::cluster(1, 2, 1);
  const Network network = toy::network(cluster);
  const toy::RingModel collectives(microseconds(10), gigabytes_per_second(50), 0.2);
  const toy::FixedModel compute;
  const auto engine = GENERATE(EngineKind::fluid, EngineKind::simgrid);
  const bool folded = GENERATE(true, false);

  SECTION("each step waits for the one before") {
    const Schedule schedule = toy::one_layer(true);
    const ReplayInput input{schedule, network, collectives, compute};
    const ReplayResult result = replay(input, {engine, folded, false, true, false, 3});
    for (int step = 0; step < 3; ++step) {
      const double from = 8.610 * step;
      check(result, schedule, "gather", step, from, from + 1.010);
      check(result, schedule, "forward", step, from + 1.010, from + 3.010);
      check(result, schedule, "scatter", step, from + 3.010, from + 4.020);
      check(result, schedule, "backward", step, from + 3.010, from + 7.610);
      check(result, schedule, "reduce", step, from + 4.020, from + 6.030);
      check(result, schedule, "update", step, from + 7.610, from + 8.610);
    }
    CHECK(result.step_time.value() == Approx(8.610e-3).epsilon(1e-9));
    CHECK(result.period_start.value() == Approx(2 * 8.610e-3).epsilon(1e-9));
    CHECK(result.rank_classes.size() == (engine == EngineKind::fluid && folded ? 1 : 2));
  }

  // The second gather may start when its stream is free, at 4.020. Both all-reduce and all-gather
  // want half of each link's wire at most (bus rate 50 of 100 GB/s): e = 1/2, one flow fills the
  // link. From 4.030 both run: each gets half. The gather needs 1 ms alone, so 2 ms shared: until
  // 6.030; the all-reduce has then done 1 of its 2 ms and ends at 7.030. The backward pass runs at
  // 1 - 0.4 = 0.6 for these 2 ms and at 0.8 for 1 ms: done 0.820 + 1.2 + 0.8 = 2.820 at 7.030;
  // the last 1.180 ms at full speed: 8.210. Forward of step 1 follows update: 9.210.
  SECTION("the next gather competes with the all-reduce") {
    const Schedule schedule = toy::one_layer(false);
    const ReplayInput input{schedule, network, collectives, compute};
    const ReplayResult result = replay(input, {engine, folded, false, true, false, 2});
    check(result, schedule, "gather", 1, 4.020, 6.030);
    check(result, schedule, "reduce", 0, 4.020, 7.030);
    check(result, schedule, "backward", 0, 3.010, 8.210);
    check(result, schedule, "update", 0, 8.210, 9.210);
    check(result, schedule, "forward", 1, 9.210, 11.210);
  }
}
