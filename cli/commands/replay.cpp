// SPDX-License-Identifier: Apache-2.0
// amsp replay: any schedule file, hand-written ones too, on a simulated cluster.
#include <cstdio>

#include "base/file.hpp"
#include "cli/command.hpp"
#include "cli/replay_options.hpp"
#include "report/replay_report.hpp"
#include "scenarios/run.hpp"

namespace amsp {
namespace {

class ReplayCommand : public Command {
 public:
  std::string_view name() const override { return "replay"; }
  std::string_view description() const override { return "replay a schedule file on a cluster"; }
  void declare(Options& options) override {
    options.positional("SCHEDULE", "schedule file (docs/formats/schedule.md)", file_);
    options.option("--cluster", "C", "cluster: name or path", cluster_);
    options.option("--calibration", "F", "calibration: name or path (default: the cluster's own)",
                   calibration_);
    options.choice("--format", "FORMAT", "table, json or csv", format_, {"table", "json", "csv"});
    options.option("-o,--output", "DIR", "also write replay.json and trace.json", directory_);
    replay_.declare(options);
  }
  int run() override {
    if (cluster_.empty()) throw InputError("--cluster is required (amsp list clusters)");
    const Schedule schedule = load_schedule(file_);
    const ClusterSpec cluster = load_cluster(cluster_);
    const Machine machine(cluster, calibration_ ? *calibration_ : cluster.calibration,
                          schedule.world);
    const ReplayResult result = replay(
        {schedule, machine.network(), machine.collectives(), machine.compute(), {}, {}, {}, {}},
        replay_.options());
    const ReplayReport report{schedule, machine.network(), result};
    const std::string text = format_ == "json"  ? replay_json(report)
                             : format_ == "csv" ? replay_csv(report)
                                                : replay_table(report);
    std::fputs(text.c_str(), stdout);
    if (!directory_.empty()) write_replay(report, directory_);
    return 0;
  }

 private:
  std::string file_, cluster_, format_ = "table", directory_;
  std::optional<std::string> calibration_;
  ReplayFlags replay_;
};

}  // namespace

std::unique_ptr<Command> command_replay() { return std::make_unique<ReplayCommand>(); }

}  // namespace amsp
