// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/file.hpp"
#include "report/results.hpp"
#include "report/svg_curve.hpp"

namespace amsp {
namespace {

Plot scaling_plot(const std::vector<ReportedRun>& runs) {
  Plot plot;
  plot.x_label = "GPUs";
  plot.y_label = "TGS [tokens per GPU and second]";
  plot.log_x = true;
  Curve model{"predicted, 90 % interval", CurveKind::line, true, {}};
  Curve published{"published", CurveKind::points, false, {}};
  for (const ReportedRun& reported : runs) {
    const RunResult& run = reported.run;
    const double seconds = run.step_time.value();
    model.points.push_back({static_cast<double>(run.gpus), run.tgs,
                            run.tgs * seconds / run.step_time_high.value(),
                            run.tgs * seconds / run.step_time_low.value()});
    if (const auto tgs = reported.reference.tgs)
      published.points.push_back({static_cast<double>(run.gpus), *tgs, *tgs, *tgs});
  }
  plot.title = fmt::format("{}: {:.0f} tokens per GPU and second on {} GPUs, {:.0f} on {}",
                           runs.front().run.scenario, runs.front().run.tgs, runs.front().run.gpus,
                           runs.back().run.tgs, runs.back().run.gpus);
  plot.curves.push_back(std::move(model));
  if (!published.points.empty()) plot.curves.push_back(std::move(published));
  return plot;
}

}  // namespace

void write_results(const std::vector<ReportedRun>& runs, const std::string& trace,
                   const std::string& directory) {
  const std::filesystem::path folder(directory);
  write_file(folder / "results.json", results_json(runs));
  write_file(folder / "results.csv", results_csv(runs));
  if (!trace.empty()) write_file(folder / "trace.json", trace);
  if (const auto svg = svg_curve(scaling_plot(runs))) write_file(folder / "curve.svg", *svg);
}

}  // namespace amsp
