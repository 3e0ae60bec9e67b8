// SPDX-License-Identifier: Apache-2.0
// The fit of the Gloo backend's collectives finds the figures that made the times, outliers or not.
#include "scenarios/validation/ring_model.hpp"

#include <rapidcheck.h>
#include <rapidcheck/catch.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "base/error.hpp"

using namespace amsp;

namespace {

const std::vector<GroupShape> kShapes{
    {8, 4, 2, 1}, {4, 4, 1, 0}, {2, 1, 2, 1}, {2, 2, 1, 0}, {4, 2, 2, 1}};

// Times from known figures, by the formulas of docs/model/80-execution.md written out again.
Seconds time_of(CollectiveKind kind, double bytes, const GroupShape& s, double base, double in,
                double out, double port, double nic) {
  const double n = s.ranks, r = s.ranks_per_node;
  if (kind == CollectiveKind::all_to_all)
    return Seconds(
        base + (s.nodes > 1 ? out + bytes * r * (n - r) / n / nic : bytes * (n - 1) / n / port));
  const double turns = kind == CollectiveKind::all_reduce ? 2 : 1;
  const double carried = bytes * (kind == CollectiveKind::broadcast ? 1 : turns * (n - 1) / n);
  const double across = s.nodes > 1 ? turns * (s.nodes - 1) : 0;
  return Seconds(base + (turns * (n - 1) - across) * in + across * out +
                 carried / (s.nodes > 1 ? nic : port));
}

}  // namespace

TEST_CASE("the fit finds the figures behind exact times") {
  rc::prop("also with one wild row", [] {
    const double base = *rc::gen::inRange(1, 50) * 1e-5, in = *rc::gen::inRange(1, 50) * 1e-5;
    const double out = *rc::gen::inRange(1, 90) * 1e-5;
    const double nic = *rc::gen::inRange(5, 20) * 1e6, port = nic * *rc::gen::inRange(2, 8);
    const bool wild = *rc::gen::arbitrary<bool>();
    std::vector<MeasuredCollective> rows;
    const CollectiveKind kinds[] = {CollectiveKind::all_reduce, CollectiveKind::all_gather,
                                    CollectiveKind::broadcast, CollectiveKind::all_to_all};
    for (CollectiveKind kind : kinds)
      for (const GroupShape& shape : kShapes)
        for (double kib : {16.0, 128.0, 512.0, 2048.0})
          rows.push_back({kind, shape, Bytes(kib * 1024),
                          time_of(kind, kib * 1024, shape, base, in, out, port, nic)});
    if (wild) rows[7].time = rows[7].time * 3;
    const RingModel model(rows);
    for (CollectiveKind kind : kinds)
      for (const GroupShape& shape : kShapes) {
        const Seconds right = time_of(kind, 1e6, shape, base, in, out, port, nic);
        const CollectiveEstimate found = model.estimate(kind, Bytes(1e6), Dtype::bf16, shape);
        RC_ASSERT(std::abs(found.time / right - 1) < (wild ? 0.03 : 1e-6));
        RC_ASSERT(found.time == found.latency + found.fluid);
      }
  });
}

TEST_CASE("one shape is enough for a fit of that shape") {
  // Base and hop always come together here: only their sum is known.
  std::vector<MeasuredCollective> rows;
  const GroupShape shape{2, 1, 2, 1};
  for (CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::all_to_all})
    for (double bytes : {1e5, 1e6, 2e6})
      rows.push_back(
          {kind, shape, Bytes(bytes), time_of(kind, bytes, shape, 1e-3, 0, 2e-3, 0, 1e7)});
  const RingModel model(rows);
  for (CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::all_to_all})
    CHECK(model.estimate(kind, Bytes(5e5), Dtype::bf16, shape).time.value() ==
          Approx(time_of(kind, 5e5, shape, 1e-3, 0, 2e-3, 0, 1e7).value()).epsilon(1e-4));
}

TEST_CASE("kinds that were not measured are refused") {
  const RingModel model({});
  CHECK_THROWS_WITH(model.estimate(CollectiveKind::all_reduce, Bytes(1), Dtype::bf16, {2, 2, 1, 0}),
                    Catch::Matchers::Contains("all_reduce was not measured"));
  CHECK(model.estimate(CollectiveKind::all_reduce, Bytes(1), Dtype::bf16, {1, 1, 1, 0}).time ==
        Seconds());
}
