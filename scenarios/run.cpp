// SPDX-License-Identifier: Apache-2.0
#include "scenarios/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/counted.hpp"
#include "base/file.hpp"
#include "base/progress.hpp"
#include "calibrate/wide_interval.hpp"
#include "scenarios/fit_advice.hpp"
#include "scenarios/roofline.hpp"
#include "sim/repetitions.hpp"
#include "workloads/generator.hpp"
#include "workloads/idle_switches.hpp"

namespace amsp {
namespace {

FlopRate peak_rate(const ClusterSpec& cluster, Dtype dtype) {
  const auto peak = cluster.node.gpu.peak.find(dtype);
  if (peak == cluster.node.gpu.peak.end()) {
    std::string stated;
    for (const auto& [other, rate] : cluster.node.gpu.peak)
      stated += fmt::format("{}{}", stated.empty() ? "" : ", ", name_of(other));
    throw InputError(fmt::format("cluster {}: no peak rate for {} is stated for {}; stated: {}",
                                 cluster.name, name_of(dtype), cluster.node.gpu.name,
                                 stated.empty() ? "none" : stated));
  }
  return peak->second;
}

// The least number of GPUs that fills nodes and is not below `gpus`.
int whole_nodes(const ClusterSpec& cluster, int gpus) {
  return (gpus + cluster.node.gpus - 1) / cluster.node.gpus * cluster.node.gpus;
}

// What the replays say; the interval of the mean and that of the estimates are independent.
void take(RunResult& result, RepeatedReplay repeated) {
  result.repetitions = repeated.repetitions;
  result.step_time = repeated.step_time.mean;
  const double share = std::hypot(repeated.first.relative_uncertainty,
                                  repeated.step_time.half_width / repeated.step_time.mean);
  // A time is above 0 however little is known of it; the second bound is the larger from 0.62 on.
  result.step_time_low = result.step_time * std::max(1 - share, std::pow(1 + share, -2));
  result.step_time_high = result.step_time * (1 + share);
  result.exposed = repeated.mean_exposed();
  if (repeated.repetitions > 1)
    for (const auto& [name, spread] : repeated.exposed)
      result.exposed_half_width[name] = spread.half_width;
  result.memory = std::move(repeated.memory);
  result.replay = std::move(repeated.first);
  result.compute_range = result.replay.compute_range;
  result.collective_range = result.replay.collective_range;
  result.range = std::max(result.compute_range, result.collective_range);
}

}  // namespace

Machine::Machine(const ClusterSpec& cluster, const std::string& calibration, int gpus,
                 double compute_efficiency)
    : cluster_(resized(cluster, gpus <= cluster.node.gpus ? gpus : whole_nodes(cluster, gpus))),
      gpus_(gpus),
      collectives_(load_collective_model(calibration, cluster_)),
      compute_(
          at_efficiency(load_compute_model(calibration, cluster_.node.gpu), compute_efficiency)),
      network_(std::make_unique<Network>(cluster_, collectives_->achievable())) {
  progress_phase("network built");
}

Machine::Machine(const Scenario& scenario, int gpus)
    : Machine(scenario.cluster, scenario.calibration, gpus, scenario.compute_efficiency) {}

RunResult Machine::simulate(const ModelShape& model, const Training& training,
                            const Strategy& strategy, const PerturbationSpec& perturbations,
                            const ReplayOptions& options) const {
  check_reserve(training.memory_reserve, cluster_.node.gpu, "training.memory_reserve");
  RunResult result;
  result.gpus = gpus();
  result.micro_batches = micro_batches(training, gpus());
  result.strategy = strategy;
  result.schedule = generate_schedule(model, training, strategy, data_parallel());
  const auto replay_one = [&](int repetition) {
    const PerturbedNetwork perturbed =
        apply(perturbations.with_seed_of(repetition), *network_, gpus());
    return replay({result.schedule, perturbed.network(), *collectives_, *compute_,
                   perturbed.gpu_of_rank, perturbed.perturbations},
                  options);
  };
  take(result, replay_repeatedly(result.schedule, perturbations.useful_repetitions(), replay_one));
  result.notes = notes_on(perturbations);
  for (std::string& note : notes()) result.notes.push_back(std::move(note));
  const auto tokens = static_cast<double>(training.global_batch * training.sequence_length);
  result.tgs = tokens / gpus() / result.step_time.value();
  result.mfu = result.tgs * model_flops_per_token(model, training.sequence_length).value() /
               peak_rate(cluster_, training.dtype).value();
  hold_to_roofline(result, cluster_.node.gpu);
  if (const std::string wide = said_of_interval(result.step_time_low, result.step_time_high);
      !wide.empty())
    result.notes.push_back(fmt::format("{}: {}", counted(gpus(), "GPU"), wide));
  result.memory_limit = cluster_.node.gpu.memory - training.memory_reserve;
  result.fits = result.memory.peak <= result.memory_limit;
  result.fit_advice =
      misfit(model, training, strategy, data_parallel(), cluster_.node.gpu, result.memory.peak);
  result.price_per_gpu_hour = cluster_.price_per_gpu_hour;
  return result;
}

std::vector<std::string> Machine::notes() const {
  std::vector<std::string> notes;
  for (std::string note : {compute_->note(), collectives_->note()})
    if (!note.empty()) notes.push_back(std::move(note));
  return notes;
}

RunResult run_scenario(const Scenario& scenario, int gpus, const ReplayOptions& options) {
  data_parallel_mesh(scenario.cluster, gpus);  // what cannot run is refused before a long start
  micro_batches(scenario.training, gpus);
  return run_scenario(scenario, Machine(scenario, gpus), options);
}

RunResult run_scenario(const Scenario& scenario, const Machine& machine,
                       const ReplayOptions& options) {
  const Strategy strategy = parse_strategy(scenario.strategy, machine.data_parallel());
  RunResult result = machine.simulate(scenario.model, scenario.training, strategy,
                                      scenario.perturbations, options);
  for (std::string& note : idle_switches(scenario.strategy, machine.data_parallel()))
    result.notes.push_back(std::move(note));
  result.scenario = scenario.name;
  result.manifest = manifest_of(scenario, options);
  return result;
}

namespace {

nlohmann::ordered_json perturbations_json(const PerturbationSpec& spec) {
  nlohmann::ordered_json slow = nlohmann::ordered_json::array();
  for (const Perturbations::SlowGpu& gpu : spec.slow_gpus)
    slow.push_back({{"gpu", gpu.gpu.index}, {"speed", gpu.speed}});
  nlohmann::ordered_json degraded = nlohmann::ordered_json::array();
  for (const PerturbationSpec::Degraded& link : spec.degraded)
    degraded.push_back({{"name", link.name}, {"factor", link.factor}});
  return {{"slow_gpus", slow},
          {"degraded", degraded},
          {"failed", spec.failed},
          {"kernel_jitter", spec.kernel_jitter},
          {"link_jitter", spec.link_jitter},
          {"repetitions", spec.repetitions},
          {"placement", spec.placement.empty() ? "packed" : spec.placement}};
}

}  // namespace

std::string manifest_of(const Scenario& scenario, const ReplayOptions& options) {
  nlohmann::ordered_json inputs = nlohmann::ordered_json::array();
  for (const InputFile& input : scenario.inputs)
    inputs.push_back({{"role", input.role}, {"name", input.name}, {"sha256", input.sha256}});
  const std::string& placement = scenario.perturbations.placement;
  if (is_placement_file(placement))
    inputs.push_back(
        {{"role", "placement"}, {"name", placement}, {"sha256", sha256(read_file(placement))}});
  const nlohmann::ordered_json manifest{
      {"program", "amsp " AMSP_VERSION},
      {"inputs", inputs},
      {"options",
       {{"engine", options.engine == EngineKind::fluid ? "fluid" : "simgrid"},
        {"folded", options.folded},
        {"messages", options.messages},
        {"steps", options.steps}}},
      {"seed", scenario.perturbations.seed},
      {"perturbations", perturbations_json(scenario.perturbations)},
      {"scenario", nlohmann::ordered_json::parse(scenario.canonical)}};
  return manifest.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace amsp
