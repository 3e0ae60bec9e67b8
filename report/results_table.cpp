// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/counted.hpp"
#include "report/csv.hpp"
#include "report/notes.hpp"
#include "report/results.hpp"
#include "report/table.hpp"

namespace amsp {
namespace {

std::set<std::string> collectives_of(const std::vector<ReportedRun>& runs) {
  std::set<std::string> kinds;
  for (const ReportedRun& reported : runs)
    for (const auto& [kind, time] : reported.run.exposed.by_collective)
      if (time > Seconds(0)) kinds.insert(kind);
  return kinds;
}

Seconds exposed_by(const RunResult& run, const std::string& kind) {
  const auto it = run.exposed.by_collective.find(kind);
  return it == run.exposed.by_collective.end() ? Seconds(0) : it->second;
}

std::string exact(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "";
}

std::string error_text(double predicted, const std::optional<double>& published) {
  return published ? fmt::format("{:+.1f} %", 100 * (predicted / *published - 1)) : "";
}

std::string shown_interval(const RunResult& run) {
  const double low = run.tgs * run.step_time.value() / run.step_time_high.value();
  const double high = run.tgs * run.step_time.value() / run.step_time_low.value();
  return fmt::format("{:.0f} [{:.0f}, {:.0f}]", run.tgs, low, high);
}

void add_comparison(const ReportedRun& reported, std::vector<std::string>& cells) {
  const Comparison& paper = reported.reference;
  cells.push_back(paper.tgs ? fmt::format("{:.0f}", *paper.tgs) : "");
  cells.push_back(error_text(reported.run.tgs, paper.tgs));
  cells.push_back(paper.mfu ? fmt::format("{:.3f}", *paper.mfu) : "");
  cells.push_back(error_text(reported.run.mfu, paper.mfu));
}

// With repetitions: the mean and the half width of its 90 % interval.
std::string shown_exposed(const RunResult& run, const std::string& what, Seconds mean) {
  const auto half_width = run.exposed_half_width.find(what);
  if (half_width == run.exposed_half_width.end()) return fmt::format("{:.4f}", mean.value());
  return fmt::format("{:.4f} ± {:.4f}", mean.value(), half_width->second.value());
}

std::string shown_range(const RunResult& run) {
  if (run.compute_range == run.collective_range) return std::string(name_of(run.range));
  return fmt::format("compute {}, collectives {}", name_of(run.compute_range),
                     name_of(run.collective_range));
}

// What does not go into columns: why a run does not fit, and what was done to the cluster.
std::string notes_text(const std::vector<ReportedRun>& runs) {
  std::string text;
  for (const ReportedRun& reported : runs)
    if (!reported.run.fits)
      text += fmt::format("{}: does not fit; {}\n", counted(reported.run.gpus, "GPU"),
                          reported.run.fit_advice);
  for (const std::string& note : notes_of(runs)) text += note + "\n";
  return text.empty() ? "" : "\n" + text;
}

}  // namespace

std::string results_csv(const std::vector<ReportedRun>& runs) {
  const std::set<std::string> kinds = collectives_of(runs);
  std::vector<TableColumn> columns{{"scenario"},
                                   {"strategy"},
                                   {"parameters"},
                                   {"gradients"},
                                   {"optimizer"},
                                   {"gpus"},
                                   {"micro_batches"},
                                   {"repetitions"},
                                   {"step_time", "s"},
                                   {"step_time_low", "s"},
                                   {"step_time_high", "s"},
                                   {"tgs"},
                                   {"mfu"},
                                   {"peak_memory", "bytes"},
                                   {"memory_limit", "bytes"},
                                   {"fits"},
                                   {"exposed_total", "s"}};
  for (const std::string& kind : kinds) columns.push_back({"exposed_" + kind, "s"});
  for (const char* name :
       {"range", "compute_range", "collective_range", "reference_tgs", "reference_mfu"})
    columns.push_back({name});
  Table table(columns);
  for (const ReportedRun& reported : runs) {
    const RunResult& run = reported.run;
    std::vector<std::string> cells{
        run.scenario, run.strategy.name, to_text(run.strategy.parameters),
        to_text(run.strategy.gradients), to_text(run.strategy.optimizer)};
    for (const double value :
         {static_cast<double>(run.gpus), static_cast<double>(run.micro_batches),
          static_cast<double>(run.repetitions), run.step_time.value(), run.step_time_low.value(),
          run.step_time_high.value(), run.tgs, run.mfu, run.memory.peak.value(),
          run.memory_limit.value()})
      cells.push_back(fmt::format("{}", value));
    cells.push_back(run.fits ? "true" : "false");
    cells.push_back(fmt::format("{}", run.exposed.total.value()));
    for (const std::string& kind : kinds)
      cells.push_back(fmt::format("{}", exposed_by(run, kind).value()));
    for (const PredictionRange range : {run.range, run.compute_range, run.collective_range})
      cells.emplace_back(name_of(range));
    cells.push_back(exact(reported.reference.tgs));
    cells.push_back(exact(reported.reference.mfu));
    table.add_row(std::move(cells));
  }
  return csv_text(table);
}

std::string results_table(const std::vector<ReportedRun>& runs) {
  const std::set<std::string> kinds = collectives_of(runs);
  const bool compared = std::any_of(runs.begin(), runs.end(), [](const ReportedRun& reported) {
    return reported.reference.tgs || reported.reference.mfu;
  });
  const bool repeated = std::any_of(runs.begin(), runs.end(), [](const ReportedRun& reported) {
    return reported.run.repetitions > 1;
  });
  std::vector<TableColumn> columns{{"GPUs"}, {"M"}, {"step", "s"}};
  if (repeated) columns.push_back({"n"});
  columns.insert(columns.end(), {{"TGS (90 %)"}, {"MFU"}});
  if (compared) columns.insert(columns.end(), {{"paper"}, {"error"}, {"paper MFU"}, {"error"}});
  columns.insert(columns.end(), {{"memory", "GiB"}, {"fits", "", Align::left}, {"exposed", "s"}});
  for (const std::string& kind : kinds) columns.push_back({kind, "s"});
  columns.push_back({"predictions", "", Align::left});
  Table table(columns);
  for (const ReportedRun& reported : runs) {
    const RunResult& run = reported.run;
    std::vector<std::string> cells{fmt::format("{}", run.gpus),
                                   fmt::format("{}", run.micro_batches),
                                   fmt::format("{:.4f}", run.step_time.value())};
    if (repeated) cells.push_back(fmt::format("{}", run.repetitions));
    cells.push_back(shown_interval(run));
    cells.push_back(fmt::format("{:.3f}", run.mfu));
    if (compared) add_comparison(reported, cells);
    cells.push_back(fmt::format("{:.1f}", run.memory.peak / gibibytes(1)));
    cells.emplace_back(run.fits ? "yes" : "no");
    cells.push_back(shown_exposed(run, "total", run.exposed.total));
    for (const std::string& kind : kinds)
      cells.push_back(shown_exposed(run, kind, exposed_by(run, kind)));
    cells.push_back(shown_range(run));
    table.add_row(std::move(cells));
  }
  return table_text(table) + notes_text(runs);
}

}  // namespace amsp
