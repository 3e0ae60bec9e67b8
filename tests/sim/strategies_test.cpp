// SPDX-License-Identifier: Apache-2.0
// Every strategy preset on a real cluster: folded against unfolded, in space and in time, and
// against SimGrid.
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <random>

#include "sim/replay.hpp"
#include "workloads/generator.hpp"

using namespace amsp;

namespace {

ModelShape two_layers() {
  ModelShape model;
  model.name = "two-layers";
  model.layers = 2;
  model.hidden = 2048;
  model.heads = model.kv_heads = 16;
  model.head_dim = 128;
  model.intermediate = 5504;
  model.vocabulary = 32000;
  return model;
}

struct Job {
  ClusterSpec cluster = resized(load_cluster("a800-4hdr"), 32);
  std::unique_ptr<CollectiveModel> collectives = load_collective_model("", cluster);
  std::unique_ptr<ComputeModel> compute = load_compute_model("", cluster.node.gpu);
  Network network{cluster, collectives->achievable()};
  Schedule schedule;

  Job(const StrategyPreset& preset, std::int64_t micro_batches) {
    const Mesh mesh{8, 4};
    Training training;
    training.sequence_length = 1024;
    training.global_batch = 32 * micro_batches;
    schedule = generate_schedule(two_layers(), training, preset.make(mesh), mesh);
  }
  [[nodiscard]] ReplayInput input() const { return {schedule, network, *collectives, *compute}; }
};

void perturb(ReplayInput& input, unsigned seed) {
  std::mt19937 dice(seed);
  input.perturbations.slow_gpus.push_back({GpuId(static_cast<std::int32_t>(dice() % 32)), 0.7});
  const auto nic = input.network.nic_links(NodeId(static_cast<std::int32_t>(dice() % 4)),
                                           NicId(static_cast<std::int32_t>(dice() % 4)));
  for (const LinkId link : nic) input.perturbations.links.push_back({link, 0.5});
}

double largest_difference(const ReplayResult& folded, const ReplayResult& plain) {
  std::map<std::tuple<int, int, int, std::int64_t>, const OpRecord*> times;
  for (const OpRecord& record : folded.records)
    times[{folded.class_of_rank[record.rank.position()], record.op.index, record.step,
           record.repetition}] = &record;
  double largest = 0;
  for (const OpRecord& record : plain.records) {
    const auto found = times.find({folded.class_of_rank[record.rank.position()], record.op.index,
                                   record.step, record.repetition});
    if (found == times.end()) return 1;
    for (const auto& [a, b] :
         {std::pair{found->second->start, record.start}, std::pair{found->second->end, record.end}})
      largest = std::max(largest, std::abs((a - b).value()) / std::max(b.value(), 1e-6));
  }
  return largest;
}

}  // namespace

TEST_CASE("Folding is exact for every strategy, healthy and perturbed") {
  for (const StrategyPreset* preset : strategy_presets()) {
    INFO("strategy " << preset->name());
    const Job job(*preset, 2);
    for (const bool perturbed : {false, true}) {
      ReplayInput input = job.input();
      if (perturbed) perturb(input, 11);
      const ReplayResult folded = replay(input, {EngineKind::fluid, true, false, false, false, 2});
      const ReplayResult plain = replay(input, {EngineKind::fluid, false, false, false, false, 2});
      CHECK(largest_difference(folded, plain) < 1e-9);
      CHECK(folded.rank_classes.size() < plain.rank_classes.size());
    }
  }
}

TEST_CASE("Folding in time is exact for every strategy") {
  for (const StrategyPreset* preset : strategy_presets()) {
    INFO("strategy " << preset->name());
    const Job job(*preset, 30);
    const ReplayResult folded =
        replay(job.input(), {EngineKind::fluid, true, false, true, false, 3});
    const ReplayResult plain =
        replay(job.input(), {EngineKind::fluid, true, false, false, false, 3});
    CHECK(folded.repeats_folded);
    CHECK(folded.records.size() < plain.records.size() / 2);
    CHECK(folded.step_time.value() == Approx(plain.step_time.value()).epsilon(1e-9));
  }
}

TEST_CASE("SimGrid and the fluid engine agree on every strategy within 5 %") {
  for (const StrategyPreset* preset : strategy_presets()) {
    INFO("strategy " << preset->name());
    const Job job(*preset, 1);
    const ReplayResult fluid =
        replay(job.input(), {EngineKind::fluid, true, false, true, false, 2});
    const ReplayResult simgrid =
        replay(job.input(), {EngineKind::simgrid, false, false, true, false, 2});
    CHECK(fluid.step_time.value() == Approx(simgrid.step_time.value()).epsilon(0.05));
  }
}
