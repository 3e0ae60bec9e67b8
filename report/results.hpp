// SPDX-License-Identifier: Apache-2.0
// Results of runs as JSON, CSV and a table (docs/formats/results.md). Units are in the names of the
// fields; no wall-clock time is written, so equal inputs give equal bytes.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "scenarios/run.hpp"

namespace amsp {

// A published value beside a predicted one.
struct Comparison {
  std::optional<double> tgs, mfu;
};
// From the shipped reference table, for the scenario's reference key (none: nothing).
Comparison compare_with_reference(const Scenario& scenario, int gpus);

struct ReportedRun {
  RunResult run;
  Comparison reference;
};

// One object, on one line: gpus, micro_batches, step_time_s, tgs, mfu, peak_memory_bytes, fits,
// exposed_communication_s (total and by collective), strategy, manifest, …
std::string run_json(const ReportedRun& reported);
// {"format": "amsp-results-1", "runs": [...]}, indented, for results.json.
std::string results_json(const std::vector<ReportedRun>& runs);
std::string results_csv(const std::vector<ReportedRun>& runs);
// For people: a row per run, with the published value and the error where there is one.
std::string results_table(const std::vector<ReportedRun>& runs);

// results.json, results.csv, curve.svg and, when there is a trace, trace.json in a folder.
void write_results(const std::vector<ReportedRun>& runs, const std::string& trace,
                   const std::string& directory);

}  // namespace amsp
