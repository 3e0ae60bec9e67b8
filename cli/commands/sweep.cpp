// SPDX-License-Identifier: Apache-2.0
// amsp sweep: a scenario at every combination of some values; interruptible, resumable, splittable.
#include <fmt/format.h>

#include <cstdio>

#include "base/file.hpp"
#include "base/progress.hpp"
#include "base/terminal.hpp"
#include "cli/command.hpp"
#include "cli/html_flag.hpp"
#include "cli/replay_options.hpp"
#include "report/run_trace.hpp"
#include "report/sweep_report.hpp"
#include "scenarios/parallel.hpp"

namespace amsp {
namespace {

class SweepCommand : public Command {
 public:
  std::string_view name() const override { return "sweep"; }
  std::string_view description() const override {
    return "simulate a scenario at every combination of some of its values";
  }
  std::string_view group() const override { return "Questions"; }
  std::string_view example() const override {
    return "amsp sweep paper-7b-amsp --over strategy=amsp,zero1,zero3 --over gpus=64,512 -o sweep";
  }
  std::string_view details() const override {
    return "Each point is a file in DIR/points, so an interrupted sweep goes on where it stopped.\n"
           "With --shard I/N (or under srun or mpirun, by rank) a machine runs its part; whoever\n"
           "finds all points done writes DIR/results.json and DIR/results.csv, always the same "
           "bytes.\n"
           "Exit status: 0 ok (or other parts are missing), 1 some points cannot run, 2 none can.";
  }
  void declare(Options& options) override {
    options.positional("SCENARIO", "name or path of a scenario", sweep_.scenario);
    options.repeated("--over", "KEY=V1,V2,...", "an axis, e.g. --over strategy=zero1,zero3", axes_);
    options.repeated("--set", "KEY=VALUE", "replace a value of the scenario", sweep_.settings);
    options.output_folder("-o,--output", "DIR", "folder of the sweep", directory_);
    options.integer("-j,--jobs", "N", "threads", jobs_, 1, 1024);
    options.option("--shard", "I/N", "only every N-th point, from the I-th", shard_);
    html_.declare(options);
    replay_.declare(options);
  }
  int run() override {
    if (directory_.empty()) throw InputError("-o DIR is required: the sweep lives in a folder");
    sweep_.folder = directory_;
    for (const std::string& axis : axes_) sweep_.axes.push_back(parse_sweep_axis(axis));
    const ReplayOptions options = replay_.options();
    const auto points = sweep_points(sweep_, options);
    const Shard shard = parse_shard(shard_);
    if (!shard.source.empty())
      note(fmt::format("sweep: part {}/{} by {}", shard.index, shard.count, shard.source));
    {
      const auto todo = points_to_run(points, shard);
      Progress progress("sweep", static_cast<std::int64_t>(todo.size()));
      run_sweep(sweep_, options, todo, static_cast<int>(jobs_), sweep_point_json,
                [&progress] { progress.advance(); });
    }
    const auto merged = merge_sweep(points);
    if (!merged) {
      remark("sweep: this part is done; other parts are not yet\n");
      return 0;
    }
    write_file(sweep_.folder / "results.json", merged->json);
    write_file(sweep_.folder / "results.csv", merged->csv);
    note("wrote " + directory_);
    std::fputs(merged->table.c_str(), stdout);
    std::vector<ReportFile> files{{"", "results.json", merged->json}};
    if (merged->best) {
      files.push_back({"", "trace.json", trace_of(points[*merged->best], options)});
      write_file(sweep_.folder / files.back().name, files.back().text);
    }
    html_.write("Sweep of " + sweep_.scenario, files);
    if (merged->refused == 0) return 0;
    fmt::print(stderr, "amsp: {} of {} points cannot run (column refused)\n", merged->refused,
               merged->points);
    return merged->refused == merged->points ? 2 : 1;
  }

 private:
  // One step of a point, which its file does not hold.
  [[nodiscard]] std::string trace_of(const SweepPoint& point, const ReplayOptions& options) const {
    const Scenario scenario = scenario_of(sweep_, point);
    return run_trace(scenario, run_scenario(scenario, point.gpus, options));
  }

  Sweep sweep_;
  std::vector<std::string> axes_;
  std::string directory_, shard_;
  long long jobs_ = default_threads();
  HtmlFlag html_;
  ReplayFlags replay_;
};

}  // namespace

std::unique_ptr<Command> command_sweep() { return std::make_unique<SweepCommand>(); }

}  // namespace amsp
