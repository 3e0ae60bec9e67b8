// SPDX-License-Identifier: Apache-2.0
// amsp schedule: writes the schedule that simulate replays and exec runs.
#include <cstdio>
#include <optional>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/output_path.hpp"
#include "base/terminal.hpp"
#include "cli/command.hpp"
#include "report/chakra/chakra.hpp"
#include "scenarios/run.hpp"
#include "workloads/generator.hpp"
#include "workloads/idle_switches.hpp"

namespace amsp {
namespace {

class ScheduleCommand : public Command {
 public:
  std::string_view name() const override { return "schedule"; }
  std::string_view description() const override {
    return "write the schedule of a scenario's training step";
  }
  std::string_view group() const override { return "Schedules and devices"; }
  std::string_view example() const override {
    return "amsp schedule paper-7b-amsp --gpus 8 -o step.json";
  }
  void declare(Options& options) override {
    options.positional("SCENARIO", "name or path of a scenario (amsp list scenarios)", scenario_);
    options.integer("--gpus", "N", "number of GPUs (default: the scenario's first)", gpus_, 1,
                    1 << 20);
    options.repeated("--set", "KEY=VALUE", "replace a value of the scenario", settings_);
    options.choice("--format", "FORMAT",
                   "json (docs/formats/schedule.md) or chakra (one file a rank)", format_,
                   {"json", "chakra"});
    options.integer("--ranks", "N", "chakra: only the first N ranks", ranks_, 1, 1 << 20);
    options.option("-o,--output", "FILE",
                   "where the schedule goes (default: stdout); chakra: a DIR", output_);
  }
  int run() override {
    if (!output_.empty() && format_ == "json") check_output_file(output_);
    if (!output_.empty() && format_ == "chakra") check_output_folder(output_);
    const Scenario scenario = load_scenario(scenario_, settings_);
    const int gpus = gpus_ ? static_cast<int>(*gpus_) : scenario.gpus.front();
    const Mesh mesh = data_parallel_mesh(scenario.cluster, gpus);
    for (const std::string& idle : idle_switches(scenario.strategy, mesh)) note(idle);
    if (ranks_ && format_ != "chakra")
      throw InputError({"command line", "--ranks"}, "is of --format chakra; json has all ranks");
    if (ranks_ && *ranks_ > gpus)
      throw InputError({"command line", "--ranks"}, std::to_string(*ranks_) +
                                                        " ranks, but the step has " +
                                                        std::to_string(gpus) + " (--gpus)");
    if (format_ == "chakra") return write_traces(scenario, gpus);
    const std::string text = to_json(schedule_of(scenario, gpus));
    if (output_.empty()) {
      std::fputs(text.c_str(), stdout);
    } else {
      write_file(output_, text);
      note("wrote " + output_);
    }
    return 0;
  }

 private:
  int write_traces(const Scenario& scenario, int gpus) const {
    if (output_.empty())
      throw InputError("--format chakra needs -o DIR: it is a file for each rank");
    const Machine machine(scenario, gpus);
    ChakraOptions options;
    options.compute_time = [&machine](const Op& op) {
      Seconds time;
      for (const Kernel& kernel : op.kernels) time += machine.compute().estimate(kernel).time;
      return time;
    };
    for (int rank = 0; ranks_ && rank < *ranks_; ++rank) options.ranks.emplace_back(rank);
    write_chakra(schedule_of(scenario, gpus), scenario.name, output_, options);
    note("wrote " + std::to_string(ranks_.value_or(gpus)) + " traces in " + output_);
    return 0;
  }

  std::string scenario_, output_, format_ = "json";
  std::optional<long long> ranks_;
  std::optional<long long> gpus_;
  std::vector<std::string> settings_;
};

}  // namespace

std::unique_ptr<Command> command_schedule() { return std::make_unique<ScheduleCommand>(); }

}  // namespace amsp
