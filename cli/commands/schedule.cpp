// SPDX-License-Identifier: Apache-2.0
// amsp schedule: writes the schedule that simulate replays and exec runs.
#include <cstdio>
#include <optional>

#include "base/file.hpp"
#include "cli/command.hpp"
#include "scenarios/scenario.hpp"
#include "workloads/generator.hpp"

namespace amsp {
namespace {

class ScheduleCommand : public Command {
 public:
  std::string_view name() const override { return "schedule"; }
  std::string_view description() const override {
    return "write the schedule of a scenario's training step";
  }
  void declare(Options& options) override {
    options.positional("SCENARIO", "name or path of a scenario (amsp list scenarios)", scenario_);
    options.integer("--gpus", "N", "number of GPUs (default: the scenario's first)", gpus_, 1,
                    1 << 20);
    options.repeated("--set", "KEY=VALUE", "replace a value of the scenario", settings_);
    options.option("-o,--output", "FILE", "where the schedule goes (default: stdout)", output_);
  }
  int run() override {
    const Scenario scenario = load_scenario(scenario_, settings_);
    const int gpus = gpus_ ? static_cast<int>(*gpus_) : scenario.gpus.front();
    const std::string text = to_json(schedule_of(scenario, gpus));
    if (output_.empty())
      std::fputs(text.c_str(), stdout);
    else
      write_file(output_, text);
    return 0;
  }

 private:
  std::string scenario_, output_;
  std::optional<long long> gpus_;
  std::vector<std::string> settings_;
};

}  // namespace

std::unique_ptr<Command> command_schedule() { return std::make_unique<ScheduleCommand>(); }

}  // namespace amsp
