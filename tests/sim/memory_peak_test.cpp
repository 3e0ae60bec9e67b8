// SPDX-License-Identifier: Apache-2.0
// The peak that the walk in program order finds is that of the simulated step: equal without
// overlap, close with it.
#include <catch2/catch.hpp>

#include "sim/analysis.hpp"
#include "toy.hpp"
#include "workloads/generator.hpp"
#include "workloads/memory.hpp"

using namespace amsp;

namespace {

// Every kernel takes time: bytes at 1 TB/s, FLOPs at 100 TFLOPS, a microsecond to start.
class PlainModel : public ComputeModel {
 public:
  KernelEstimate estimate(const Kernel& kernel) const override {
    const Seconds time = microseconds(1) + kernel.hbm / gigabytes_per_second(1000) +
                         flops_of(kernel) / teraflops(100);
    return {time, time, time, PredictionRange::measured};
  }
};

struct Peaks {
  double estimated, simulated;
};

Peaks peaks(const StrategyPreset& preset, bool overlap, Recompute recompute) {
  const Mesh dp{4, 2};
  ModelShape model = load_model("qwen2.5-0.5b");
  model.layers = 4;
  Training training;
  training.sequence_length = 1024;
  training.global_batch = 3 * dp.size();
  training.recompute = recompute;
  Strategy strategy = preset.make(dp);
  strategy.overlap_gather_scatter = strategy.overlap_all_reduce = overlap;
  strategy.bucket = Bytes(64e6);
  const Schedule schedule = generate_schedule(model, training, strategy, dp);
  const Network network = toy::network(toy::cluster(2, 4, 2));
  const toy::RingModel collectives(microseconds(10), gigabytes_per_second(20), 0.0);
  const PlainModel compute;
  const ReplayInput input{schedule, network, collectives, compute, {}, {}};
  const ReplayResult result = replay(input, {});
  return {estimate_peak_memory(schedule).peak.value(),
          memory_timeline(schedule, result).peak.value()};
}

}  // namespace

TEST_CASE("without overlap the estimated peak is the simulated one") {
  for (const StrategyPreset* preset : strategy_presets())
    for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
      const Peaks found = peaks(*preset, false, recompute);
      INFO(preset->name() << ", recompute " << name_of(recompute));
      CHECK(found.estimated == Approx(found.simulated).epsilon(1e-9));
    }
}

TEST_CASE("with overlap the estimated peak is within a tenth of the simulated one") {
  for (const StrategyPreset* preset : strategy_presets()) {
    const Peaks found = peaks(*preset, true, Recompute::none);
    INFO(preset->name());
    CHECK(found.estimated == Approx(found.simulated).epsilon(0.1));
  }
}
