// SPDX-License-Identifier: Apache-2.0
// Properties that hold for every cluster, schedule and perturbation.
#include <rapidcheck/catch.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "random_case.hpp"

using namespace amsp;

namespace {

std::uint64_t any_seed() { return *rc::gen::inRange<std::uint64_t>(0, 1000000000); }

using Key = std::tuple<int, int, int, std::int64_t>;  // rank class, op, step, repetition
using Times = std::map<Key, const OpRecord*>;

Times by_instance(const ReplayResult& result) {
  Times times;
  for (const OpRecord& record : result.records)
    times[{result.class_of_rank[record.rank.position()], record.op.index, record.step,
           record.repetition}] = &record;
  return times;
}

bool near(Seconds a, Seconds b, double relative) {
  return std::abs((a - b).value()) <= relative * std::max({a.value(), b.value(), 1e-6});
}

// Every record of `b` (unfolded) has the times of its class in `a`.
void check_same(const ReplayResult& a, const ReplayResult& b, double relative) {
  const Times times = by_instance(a);
  for (const OpRecord& record : b.records) {
    const auto found = times.find(
        {a.class_of_rank[record.rank.position()], record.op.index, record.step, record.repetition});
    RC_ASSERT(found != times.end());
    RC_ASSERT(near(found->second->start, record.start, relative));
    RC_ASSERT(near(found->second->end, record.end, relative));
    RC_ASSERT(near(found->second->ready, record.ready, relative));
  }
  RC_ASSERT(near(a.step_time, b.step_time, 10 * relative));
}

// A second job that takes no time is refused: then without it.
ReplayResult with_any_job(ReplayInput input, const ReplayOptions& options) {
  try {
    return replay(input, options);
  } catch (const InputError& error) {
    RC_ASSERT(std::string(error.what()).find("takes no time") != std::string::npos);
    input.background.clear();
    return replay(input, options);
  }
}

// Bytes over all links, as a time so that near() compares them.
Seconds carried(const ReplayResult& result) {
  Seconds sum;
  for (const LinkUse& use : result.links) sum += Seconds(use.carried.value() * use.members);
  return sum;
}

ReplayOptions unfolded(EngineKind engine = EngineKind::fluid) {
  return {engine, false, false, false, false, 2};
}

}  // namespace

TEST_CASE("Folded and unfolded replays give the same times") {
  rc::prop("every start and end to 1e-9", [] {
    const toy::Case one(any_seed(), {});
    const ReplayResult folded =
        replay(one.input(), {EngineKind::fluid, true, false, false, false, 2});
    const ReplayResult plain = replay(one.input(), unfolded());
    RC_ASSERT(folded.rank_classes.size() <= plain.rank_classes.size());
    check_same(folded, plain, 1e-9);
    int members = 0;
    for (const RankClass& each : folded.rank_classes) members += each.members;
    RC_ASSERT(members == one.schedule.world);
  });
}

TEST_CASE("Folded and unfolded replays agree with everything perturbed at once") {
  // Slow GPUs, degraded and failed links and NICs, ECMP, oversubscription, any placement on any
  // part of the cluster, and a second job on the rest.
  rc::prop("every start and end to 1e-9, all bytes to 1e-6", [] {
    const toy::Case one(any_seed(), {.placed = true, .second_job = true});
    ReplayOptions options = unfolded();
    options.implied_links = true;
    const ReplayResult plain = with_any_job(one.input(), options);
    options.folded = true;
    const ReplayResult folded = with_any_job(one.input(), options);
    check_same(folded, plain, 1e-9);
    RC_ASSERT(near(carried(folded), carried(plain), 1e-6));
    RC_TAG(one.other ? "two jobs" : "one job");
  });
}

TEST_CASE("Folding leaves jitter alone") {
  rc::prop("every start and end, to the bit", [] {
    const toy::Case one(any_seed(), {.placed = true, .second_job = true, .jitter = true});
    ReplayOptions options = unfolded();
    const ReplayResult plain = with_any_job(one.input(), options);
    options.folded = true;
    options.fold_repeats = true;
    const ReplayResult folded = with_any_job(one.input(), options);
    const Perturbations& noise = one.perturbations;
    check_same(folded, plain, noise.kernel_jitter > 0 || noise.link_jitter > 0 ? 0 : 1e-9);
  });
}

TEST_CASE("A second job never speeds the first up") {
  const auto slowdown = [](const toy::Case& one) {
    ReplayInput input = one.input();
    const ReplayOptions options{EngineKind::fluid, true, false, true, false, 4};
    const Seconds beside = with_any_job(input, options).step_time;
    input.background.clear();
    const Seconds alone = replay(input, options).step_time;
    RC_TAG(one.other ? (beside > alone ? "slower" : "as fast") : "no other job");
    return alone.value() > 0 ? beside / alone : 1;
  };
  rc::prop("exactly, where the first does not compete with itself", [&] {
    RC_ASSERT(slowdown({any_seed(), {true, true, true, 0, true, 1, true, true}}) >= 1 - 1e-9);
  });
  // A group that is delayed may then meet less competition from the job's other groups.
  rc::prop("else up to the anomalies of competition inside the first", [&] {
    RC_ASSERT(slowdown({any_seed(), {true, true, false, 0, true, 1, true, true}}) >= 1 - 0.05);
  });
}

TEST_CASE("Groups inside nodes are never slower packed than scattered") {
  rc::prop("any placement against packed", [] {
    toy::Case one(any_seed(), {.perturbed = false, .chain = true, .placed = true});
    for (Op& op : one.schedule.ops)  // communicator 0 is inside nodes, and of the least size
      if (op.collective) {
        op.collective->communicator = CommId(0);
        op.collective->root = 0;
      }
    ReplayInput input = one.input();
    const Seconds scattered = replay(input, unfolded()).step_time;
    input.gpu_of_rank.clear();
    const Seconds packed = replay(input, unfolded()).step_time;
    RC_ASSERT(packed.value() <= scattered.value() * (1 + 1e-9));
  });
}

TEST_CASE("The engines agree where nothing competes for a link") {
  rc::prop("fluid and simgrid to 1e-6, wherever the ranks are and whatever is down", [] {
    const toy::Case one(any_seed(),
                        {.chain = true, .one_group = true, .placed = true, .jitter = true});
    check_same(replay(one.input(), unfolded()), replay(one.input(), unfolded(EngineKind::simgrid)),
               1e-6);
  });
  rc::prop("fluid and simgrid to 1e-6", [] {
    const toy::Case one(any_seed(), {true, true});
    check_same(replay(one.input(), unfolded()), replay(one.input(), unfolded(EngineKind::simgrid)),
               1e-6);
  });
}

TEST_CASE("The engines agree mostly where tasks share links differently") {
  // simgrid shares a link equally by task, fluid equally by flow; a task's rate can differ by as
  // much as the number of its flows on the link. Steps differ by less, as other work hides it: of
  // 6000 cases 99 % by at most 1 %, one by a factor of 2. Fixed seeds: of these the most is 10 %.
  std::vector<double> differences;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const toy::Case one(seed, {});
    const Seconds fluid = replay(one.input(), unfolded()).step_time;
    const Seconds simgrid = replay(one.input(), unfolded(EngineKind::simgrid)).step_time;
    differences.push_back(std::abs(std::log(fluid / simgrid)));
  }
  std::sort(differences.begin(), differences.end());
  CHECK(differences[284] < 1e-6);
  CHECK(differences[296] < 0.05);
  CHECK(differences[299] < 0.25);
}

TEST_CASE("Repetitions folded in time give the same times") {
  rc::prop("every replayed start and end, and the step time, to 1e-9", [] {
    const toy::Case one(any_seed(), {true, false, false, 40});
    const ReplayResult folded =
        replay(one.input(), {EngineKind::fluid, true, false, true, false, 3});
    const ReplayResult plain =
        replay(one.input(), {EngineKind::fluid, true, false, false, false, 3});
    const Times times = by_instance(plain);
    for (const auto& [key, record] : by_instance(folded)) {
      RC_ASSERT(near(times.at(key)->start, record->start, 1e-9));
      RC_ASSERT(near(times.at(key)->end, record->end, 1e-9));
    }
    RC_ASSERT(near(folded.step_time, plain.step_time, 1e-8));
    RC_TAG(folded.repeats_folded ? "folded" : "not folded");
  });
}

TEST_CASE("Time never runs backwards and streams keep their order") {
  rc::prop("ready <= start <= end <= start of the next on the stream", [] {
    const toy::Case one(any_seed(), {});
    const ReplayResult result = replay(one.input(), unfolded());
    std::map<std::pair<int, int>, Seconds> busy_until;
    for (const OpRecord& record : result.records) {
      RC_ASSERT(record.ready <= record.start);
      RC_ASSERT(record.start <= record.end);
    }
    std::vector<OpRecord> records = result.records;
    std::stable_sort(records.begin(), records.end(), [](const OpRecord& a, const OpRecord& b) {
      return std::tie(a.rank, a.step, a.block, a.repetition, a.op) <
             std::tie(b.rank, b.step, b.block, b.repetition, b.op);
    });
    for (const OpRecord& record : records) {
      Seconds& until = busy_until[{record.rank.index, one.schedule.op(record.op).stream.index}];
      RC_ASSERT(record.ready >= until);
      until = record.end;
    }
  });
}

TEST_CASE("Nothing is faster than its parts alone") {
  rc::prop("an op lasts at least as long as it does alone", [] {
    const toy::Case one(any_seed(), {});
    for (const OpRecord& record : replay(one.input(), unfolded()).records) {
      const Op& op = one.schedule.op(record.op);
      Seconds alone;
      for (const Kernel& kernel : op.kernels) alone += kernel.duration;
      if (op.collective && op.collective->bytes > Bytes{}) {
        GroupShape shape;
        shape.ranks =
            one.schedule.communicators[op.collective->communicator.position()].group_size();
        alone +=
            one.collectives.estimate(op.collective->kind, op.collective->bytes, Dtype::bf16, shape)
                .time;
      }
      RC_ASSERT((record.end - record.start).value() >= alone.value() * (1 - 1e-9));
    }
  });
}

TEST_CASE("Which node a rank lies on does not matter on a symmetric cluster") {
  rc::prop("nodes permuted", [] {
    toy::Case one(any_seed(), {false});
    one.spec.fabric.kind = FabricKind::single_switch;
    if (one.spec.nodes < 2) return;
    one.network = toy::network(one.spec);
    std::vector<int> nodes(static_cast<std::size_t>(one.spec.nodes));
    std::iota(nodes.begin(), nodes.end(), 0);
    for (int turns = *rc::gen::inRange(0, 24); turns > 0; --turns)
      std::next_permutation(nodes.begin(), nodes.end());
    ReplayInput moved = one.input();
    for (int rank = 0; rank < one.schedule.world; ++rank)
      moved.gpu_of_rank.emplace_back(nodes[static_cast<std::size_t>(rank / one.spec.node.gpus)] *
                                         one.spec.node.gpus +
                                     rank % one.spec.node.gpus);
    check_same(replay(one.input(), unfolded()), replay(moved, unfolded()), 1e-9);
  });
}

TEST_CASE("Scaling all bytes and all bandwidths by the same factor changes nothing") {
  rc::prop("factor 4", [] {
    const std::uint64_t seed = any_seed();
    const toy::Case one(seed, {});
    const toy::Case four(seed, {true, false, false, 0, true, 4});
    check_same(replay(one.input(), unfolded()), replay(four.input(), unfolded()), 1e-9);
  });
}

TEST_CASE("Where nothing competes, a slower link or GPU never speeds anything up") {
  // With contention it may: what a slow link delays no longer competes with something else.
  rc::prop("half a link, half a GPU", [] {
    toy::Case one(any_seed(), {true, true, true});
    const ReplayResult before = replay(one.input(), unfolded());
    const int links = static_cast<int>(one.network.links().size());
    one.perturbations.links.push_back({LinkId(*rc::gen::inRange(0, links)), 0.5});
    one.perturbations.slow_gpus.push_back({GpuId(*rc::gen::inRange(0, one.spec.gpus())), 0.5});
    const ReplayResult after = replay(one.input(), unfolded());
    const Times times = by_instance(before);
    for (const auto& [key, record] : by_instance(after))
      RC_ASSERT(record->end.value() >= times.at(key)->end.value() * (1 - 1e-9));
  });
}

TEST_CASE("The same seed gives the same jitter, another seed another") {
  const toy::Case quiet(7, {false, false, false, 3});
  ReplayInput input = quiet.input();
  input.perturbations.kernel_jitter = 0.05;
  input.perturbations.link_jitter = 0.1;
  const ReplayOptions options{EngineKind::fluid, true, false, true, false, 2};
  const Seconds first = replay(input, options).step_time;
  CHECK(replay(input, options).step_time == first);
  input.perturbations.seed = 2;
  CHECK(replay(input, options).step_time != first);
}
