// SPDX-License-Identifier: Apache-2.0
// In-process times of the replay (google-benchmark): run with --benchmark_repetitions=9 for
// medians.
#include <benchmark/benchmark.h>

#include "neutral_schedules.hpp"
#include "sim/partition.hpp"
#include "sim/problem_builder.hpp"
#include "sim/replay.hpp"

using namespace amsp;

namespace {

struct Setting {
  ClusterSpec cluster;
  Network network;
  neutral::RingBandwidth collectives;
  neutral::FixedKernels compute;
  Schedule schedule;
  Setting(int ranks, Schedule workload)
      : cluster(neutral::cluster(ranks)),
        network(neutral::network(cluster)),
        collectives(cluster),
        schedule(std::move(workload)) {}
  [[nodiscard]] ReplayInput input() const { return {schedule, network, collectives, compute}; }
};

void replay_workload(benchmark::State& state, const Schedule& schedule,
                     const ReplayOptions& options, bool perturbed) {
  const Setting setting(schedule.world, schedule);
  ReplayInput input = setting.input();
  if (perturbed) {
    input.perturbations.slow_gpus.push_back({GpuId(5), 0.8});
    for (const LinkId link : setting.network.nic_links(NodeId(1), NicId(0)))
      input.perturbations.links.push_back({link, 0.5});
  }
  for (auto _ : state) benchmark::DoNotOptimize(replay(input, options).step_time);
}

constexpr ReplayOptions folded{EngineKind::fluid, true, false, true, false, 1};
constexpr ReplayOptions unfolded{EngineKind::fluid, false, false, true, false, 1};

void allreduce_folded(benchmark::State& state) {
  replay_workload(state, neutral::allreduce(static_cast<int>(state.range(0))), folded, false);
}
void allreduce_unfolded(benchmark::State& state) {
  replay_workload(state, neutral::allreduce(static_cast<int>(state.range(0))), unfolded, false);
}
void zero3_folded(benchmark::State& state) {
  replay_workload(state, neutral::zero3(static_cast<int>(state.range(0))), folded, false);
}
void zero3_perturbed(benchmark::State& state) {
  replay_workload(state, neutral::zero3(static_cast<int>(state.range(0))), folded, true);
}
void zero3_unfolded(benchmark::State& state) {
  replay_workload(state, neutral::zero3(static_cast<int>(state.range(0))), unfolded, false);
}

// The refinement alone.
void refinement(benchmark::State& state) {
  const int ranks = static_cast<int>(state.range(0));
  const Setting setting(ranks, neutral::zero3(ranks));
  const ReplayInput input = setting.input();
  const Unfolded all = unfold(input);
  for (auto _ : state) benchmark::DoNotOptimize(coarsest_partition(all).rank_classes);
}

}  // namespace

BENCHMARK(allreduce_folded)->Arg(64)->Arg(1024)->Arg(16384)->Unit(benchmark::kMillisecond);
BENCHMARK(allreduce_unfolded)->Arg(1024)->Unit(benchmark::kMillisecond);
BENCHMARK(zero3_folded)->Arg(64)->Arg(256)->Arg(1024)->Arg(16384)->Unit(benchmark::kMillisecond);
BENCHMARK(zero3_perturbed)->Arg(1024)->Unit(benchmark::kMillisecond);
BENCHMARK(zero3_unfolded)->Arg(1024)->Unit(benchmark::kMillisecond);
BENCHMARK(refinement)->Arg(1024)->Arg(16384)->Arg(131072)->Unit(benchmark::kMillisecond);

BENCHMARK_MAIN();
