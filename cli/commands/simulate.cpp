// SPDX-License-Identifier: Apache-2.0
// amsp simulate: one training step in steady state, for each number of GPUs of a scenario.
#include <algorithm>
#include <cstdio>
#include <optional>

#include "base/file.hpp"
#include "base/progress.hpp"
#include "base/terminal.hpp"
#include "cli/command.hpp"
#include "cli/html_flag.hpp"
#include "cli/perturbation_options.hpp"
#include "cli/replay_options.hpp"
#include "report/notes.hpp"
#include "report/results.hpp"
#include "report/run_trace.hpp"

namespace amsp {
namespace {

class SimulateCommand : public Command {
 public:
  std::string_view name() const override { return "simulate"; }
  std::string_view description() const override {
    return "simulate one training step of a scenario in steady state";
  }
  std::string_view group() const override { return "Questions"; }
  std::string_view example() const override {
    return "amsp simulate paper-7b-amsp --gpus 512 --set strategy=zero3 --html zero3.html";
  }
  std::string_view details() const override {
    return "KEY is a path in the scenario, for example --set strategy=zero3 or\n"
           "--set training.micro_batch=2. Exit status: 0 ok, 2 bad input.";
  }
  void declare(Options& options) override {
    options.positional("SCENARIO", "name or path of a scenario (amsp list scenarios)", scenario_);
    options.integer("--gpus", "N", "this number of GPUs instead of the scenario's", gpus_, 1,
                    1 << 20);
    options.repeated("--set", "KEY=VALUE", "replace a value of the scenario", settings_);
    options.choice("--format", "FORMAT", "table, json (one object a line) or csv", format_,
                   {"table", "json", "csv"});
    options.output_folder("-o,--output", "DIR",
                          "also write results.json, results.csv, trace.json and curve.svg",
                          directory_);
    html_.declare(options);
    replay_.declare(options);
    perturbations_.declare(options);
  }
  int run() override {
    Scenario scenario = load_scenario(scenario_, settings_);
    perturbations_.add_to(scenario.perturbations);
    keep_or_drop_reference(scenario);
    const ReplayOptions options = replay_.options();
    std::vector<int> sizes = scenario.gpus;
    if (gpus_) sizes = {static_cast<int>(*gpus_)};
    std::vector<ReportedRun> runs;
    std::string trace;
    Progress progress("simulate", static_cast<std::int64_t>(sizes.size()), true);
    for (const int gpus : sizes) {
      runs.push_back(
          {run_scenario(scenario, gpus, options), compare_with_reference(scenario, gpus)});
      if ((html_.wanted() || !directory_.empty()) &&
          gpus == *std::max_element(sizes.begin(), sizes.end()))
        trace = run_trace(scenario, runs.back().run);
      progress.advance();
    }
    print(runs);
    if (!directory_.empty()) {
      write_results(runs, trace, directory_);
      note("wrote " + directory_);
    }
    html_.write(scenario.name,
                {{"", "results.json", results_json(runs)}, {"", "trace.json", trace}});
    return 0;
  }

 private:
  void keep_or_drop_reference(Scenario& scenario) const {
    std::string& by = scenario.reference_lost_by;
    if (scenario.reference && !perturbations_.other_machine().empty()) {
      scenario.reference.reset();
      by = perturbations_.other_machine();
    }
    if (!by.empty())
      note("the published values of " + scenario.name + " are of another job (changed: " + by +
           "); none are shown beside this one");
  }
  void print(const std::vector<ReportedRun>& runs) const {
    std::string text;
    if (format_ == "json")
      for (const ReportedRun& run : runs) text += run_json(run);
    else
      text = format_ == "csv" ? results_csv(runs) : results_table(runs);
    std::fputs(text.c_str(), stdout);
    if (format_ == "csv")  // has no place for them
      for (const std::string& remark : notes_of(runs)) note(remark);
  }

  std::string scenario_, format_ = "table", directory_;
  std::optional<long long> gpus_;
  std::vector<std::string> settings_;
  HtmlFlag html_;
  ReplayFlags replay_;
  PerturbationFlags perturbations_;
};

}  // namespace

std::unique_ptr<Command> command_simulate() { return std::make_unique<SimulateCommand>(); }

}  // namespace amsp
