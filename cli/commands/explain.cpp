// SPDX-License-Identifier: Apache-2.0
// amsp explain: where the time of a step goes.
#include "sim/explain.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "base/terminal.hpp"
#include "cli/command.hpp"
#include "cli/perturbation_options.hpp"
#include "cli/replay_options.hpp"
#include "report/explanation_report.hpp"
#include "scenarios/fit_advice.hpp"
#include "scenarios/run.hpp"
#include "sim/analysis.hpp"
#include "workloads/idle_switches.hpp"

namespace amsp {
namespace {

class ExplainCommand : public Command {
 public:
  std::string_view name() const override { return "explain"; }
  std::string_view description() const override {
    return "say where the time of a step goes: critical path, busiest links, waits, what would "
           "help";
  }
  std::string_view group() const override { return "Questions"; }
  std::string_view example() const override { return "amsp explain paper-7b-amsp --gpus 512"; }
  std::string_view details() const override {
    return "Replays the step once as it is and once for each resource made infinitely fast. With\n"
           "jitter that is one random draw, the first of a scenario's repetitions.";
  }
  void declare(Options& options) override {
    options.positional("SCENARIO", "name or path of a scenario (amsp list scenarios)", scenario_);
    options.integer("--gpus", "N", "this number of GPUs instead of the scenario's largest", gpus_,
                    1, 1 << 20);
    options.repeated("--set", "KEY=VALUE", "replace a value of the scenario", settings_);
    options.integer("--top", "N", "rows of each table", top_, 1, 1000);
    options.choice("--format", "FORMAT", "table or json", format_, {"table", "json"});
    replay_.declare(options);
    perturbations_.declare(options, false);
  }
  int run() override {
    Scenario scenario = load_scenario(scenario_, settings_);
    perturbations_.add_to(scenario.perturbations);
    const int gpus = gpus_ ? static_cast<int>(*gpus_)
                           : *std::max_element(scenario.gpus.begin(), scenario.gpus.end());
    const Machine machine(scenario, gpus);
    for (const std::string& said : machine.notes()) note(said);
    const Schedule schedule = schedule_of(scenario, gpus);
    for (const std::string& idle : idle_switches(scenario.strategy, machine.data_parallel()))
      note(idle);
    const PerturbedNetwork perturbed = apply(scenario.perturbations, machine.network(), gpus);
    const ReplayInput input{schedule,          perturbed.network(),   machine.collectives(),
                            machine.compute(), perturbed.gpu_of_rank, perturbed.perturbations};
    if (const int repetitions = scenario.perturbations.useful_repetitions(); repetitions > 1)
      note("explain shows the first of the scenario's " + std::to_string(repetitions) +
           " repetitions (seed " + std::to_string(scenario.perturbations.seed) +
           "); amsp simulate prints their mean");
    const Explanation explanation = explain(input, replay_.options(), static_cast<int>(top_));
    const ExplanationReport report{
        schedule, perturbed.network(), explanation, static_cast<int>(top_),
        misfit(scenario.model, scenario.training,
               parse_strategy(scenario.strategy, machine.data_parallel()), machine.data_parallel(),
               scenario.cluster.node.gpu, memory_timeline(schedule, explanation.result).peak)};
    const std::string text =
        format_ == "json" ? explanation_json(report) : explanation_table(report);
    std::fputs(text.c_str(), stdout);
    return 0;
  }

 private:
  std::string scenario_, format_ = "table";
  std::optional<long long> gpus_;
  long long top_ = 8;
  std::vector<std::string> settings_;
  ReplayFlags replay_;
  PerturbationFlags perturbations_;
};

}  // namespace

std::unique_ptr<Command> command_explain() { return std::make_unique<ExplainCommand>(); }

}  // namespace amsp
