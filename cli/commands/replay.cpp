// SPDX-License-Identifier: Apache-2.0
// amsp replay: any schedule file, hand-written ones too, on a simulated cluster.
#include <cstdio>

#include "base/file.hpp"
#include "base/terminal.hpp"
#include "cli/command.hpp"
#include "cli/perturbation_options.hpp"
#include "cli/replay_options.hpp"
#include "report/replay_report.hpp"
#include "scenarios/run.hpp"
#include "sim/repetitions.hpp"

namespace amsp {
namespace {

// The ranks of the second job follow those of the first in the placement.
ReplayInput replay_input(const Schedule& schedule, const std::optional<Schedule>& other,
                         const Machine& machine, const PerturbedNetwork& perturbed) {
  ReplayInput input{schedule,          perturbed.network(),   machine.collectives(),
                    machine.compute(), perturbed.gpu_of_rank, perturbed.perturbations};
  if (other) {
    const int ranks = schedule.world + other->world;
    if (input.gpu_of_rank.empty())
      input.gpu_of_rank = make_placement("packed", ranks, machine.cluster(), 0);
    const auto border = input.gpu_of_rank.begin() + schedule.world;
    input.background.push_back({*other, {border, input.gpu_of_rank.end()}});
    input.gpu_of_rank.erase(border, input.gpu_of_rank.end());
  }
  return input;
}

class ReplayCommand : public Command {
 public:
  std::string_view name() const override { return "replay"; }
  std::string_view description() const override { return "replay a schedule file on a cluster"; }
  std::string_view group() const override { return "Schedules and devices"; }
  std::string_view example() const override { return "amsp replay step.json --cluster dgx-a100"; }
  void declare(Options& options) override {
    options.positional("SCHEDULE", "schedule file (docs/formats/schedule.md)", file_);
    options.option("--cluster", "CLUSTER", "cluster: name or path", cluster_);
    options.option("--calibration", "CALIBRATION",
                   "calibration: name or path (default: the cluster's own)", calibration_);
    options.choice("--format", "FORMAT", "table, json or csv", format_, {"table", "json", "csv"});
    options.output_folder("-o,--output", "DIR", "also write replay.json and trace.json",
                          directory_);
    options.option("--beside", "SCHEDULE",
                   "a second job on the same fabric, repeated as long as the first runs", beside_);
    replay_.declare(options);
    perturbations_.declare(options);
  }
  int run() override {
    if (cluster_.empty()) throw InputError("--cluster is required (amsp list clusters)");
    const Schedule schedule = load_schedule(file_);
    const ClusterSpec cluster = load_cluster(cluster_);
    std::optional<Schedule> other;
    if (!beside_.empty()) other = load_schedule(beside_);
    const int ranks = schedule.world + (other ? other->world : 0);
    const Machine machine(cluster, calibration_ ? *calibration_ : cluster.calibration, ranks);
    PerturbationSpec spec;
    perturbations_.add_to(spec);
    ReplayOptions options = replay_.options();
    options.implied_links = true;
    const RepeatedReplay repeated =
        replay_repeatedly(schedule, spec.useful_repetitions(), [&](int repetition) {
          const PerturbedNetwork perturbed =
              apply(spec.with_seed_of(repetition), machine.network(), ranks);
          return replay(replay_input(schedule, other, machine, perturbed), options);
        });
    const PerturbedNetwork perturbed = apply(spec, machine.network(), ranks);
    const ReplayInput input = replay_input(schedule, other, machine, perturbed);
    std::vector<std::string> notes = notes_on(spec);
    for (std::string& said : machine.notes()) notes.push_back(std::move(said));
    ReplayReport report{schedule,
                        perturbed.network(),
                        repeated.first,
                        repeated,
                        cluster.node.gpu.memory,
                        std::move(notes),
                        input.gpu_of_rank,
                        {}};
    if (!directory_.empty()) report.links = link_timeline(input, repeated.first);
    const std::string text = format_ == "json"  ? replay_json(report)
                             : format_ == "csv" ? replay_csv(report)
                                                : replay_table(report);
    std::fputs(text.c_str(), stdout);
    if (!directory_.empty()) {
      write_replay(report, directory_);
      note("wrote " + directory_);
    }
    return 0;
  }

 private:
  std::string file_, cluster_, beside_, format_ = "table", directory_;
  std::optional<std::string> calibration_;
  ReplayFlags replay_;
  PerturbationFlags perturbations_;
};

}  // namespace

std::unique_ptr<Command> command_replay() { return std::make_unique<ReplayCommand>(); }

}  // namespace amsp
