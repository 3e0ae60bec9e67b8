// SPDX-License-Identifier: Apache-2.0
#include "scenarios/reproduction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/file.hpp"
#include "scenarios/parallel.hpp"
#include "scenarios/reproduction_bands.hpp"

namespace amsp {
namespace {

// One simulation to do, and the point that it fills.
struct Case {
  Scenario scenario;
  ReproducedPoint point;
};

constexpr std::string_view kPrefix = "paper-";
constexpr const char* kScaling = "Fig. 12";
constexpr std::string_view kAblation = "Table V";

// Where the compute efficiency is taken from. Of the two published points on 8 GPUs the one of the
// larger model: its compute is nearer to that of the model still to be predicted.
constexpr int kFitGpus = 8;
const ReferenceKey kFitPoint{"AMSP", "LLaMA-13B"};

using Settings = std::vector<std::string>;  // KEY=VALUE, as for load_scenario

std::vector<Scenario> paper_scenarios(const Settings& settings) {
  std::vector<Scenario> scenarios;
  for (const std::string& name : data_names("scenarios"))
    if (name.rfind(kPrefix, 0) == 0) scenarios.push_back(load_scenario(name, settings));
  return scenarios;
}

ReferenceKey key_of(const Scenario& scenario) {
  if (scenario.reference) return *scenario.reference;
  return {scenario.name, scenario.model.name};
}

void add_scaling(std::vector<Case>& cases, const Scenario& scenario,
                 const std::vector<ReferenceRow>& rows) {
  const ReferenceKey key = key_of(scenario);
  for (const int gpus : scenario.gpus) {
    ReproducedPoint point;
    point.source = "prediction";
    point.system = key.system;
    point.model = key.model;
    point.gpus = gpus;
    point.published_tgs = reference_value(rows, key, gpus, "TGS");
    point.published_mfu = reference_value(rows, key, gpus, "MFU");
    if (point.published_tgs || point.published_mfu)
      point.source = point.published_tgs ? kScaling : "text";
    cases.push_back({scenario, point});
  }
}

std::string switched(std::string_view overlap, std::string_view part) {
  return overlap.find(part) == std::string_view::npos ? "false" : "true";
}

// A row of Table V: the scenario with these overlaps and a batch of M x GPUs sequences.
void add_ablation(std::vector<Case>& cases, const std::vector<Scenario>& scenarios,
                  const std::vector<ReferenceRow>& rows, const Settings& settings) {
  for (const ReferenceRow& row : rows) {
    if (row.source != kAblation || row.metric != "TGS") continue;
    for (const Scenario& base : scenarios) {
      if (!base.reference || base.reference->system != row.system ||
          base.reference->model != row.model)
        continue;
      const std::string& overlap = row.overlap;
      const std::int64_t batch =
          static_cast<std::int64_t>(row.micro_batches) * row.gpus * base.training.micro_batch;
      ReproducedPoint point;
      point.source = row.source;
      point.system = row.system;
      point.model = row.model;
      point.gpus = row.gpus;
      point.overlap = overlap;
      point.published_tgs = row.value;
      Settings row_settings = settings;
      row_settings.push_back("strategy.overlap_gather_scatter=" + switched(overlap, "agrs"));
      row_settings.push_back("strategy.overlap_all_reduce=" + switched(overlap, "+ar"));
      row_settings.push_back("strategy.overlap_broadcast=" + switched(overlap, "bcast"));
      row_settings.push_back(fmt::format("training.global_batch={}", batch));
      cases.push_back({load_scenario(base.name, row_settings), point});
    }
  }
}

std::optional<EfficiencyFit> fit_efficiency(const std::vector<Scenario>& scenarios,
                                            const std::vector<ReferenceRow>& rows,
                                            const ReplayOptions& options) {
  const auto tgs = reference_value(rows, kFitPoint, kFitGpus, "TGS");
  for (const Scenario& scenario : scenarios) {
    const ReferenceKey key = key_of(scenario);
    if (!tgs || key.system != kFitPoint.system || key.model != kFitPoint.model) continue;
    return EfficiencyFit{kScaling, key.system, key.model, kFitGpus,
                         efficiency_for(scenario, kFitGpus, *tgs, options)};
  }
  return std::nullopt;
}

bool is_point_of(const std::optional<EfficiencyFit>& fit, const ReproducedPoint& point) {
  return fit && point.source == fit->source && point.system == fit->system &&
         point.model == fit->model && point.gpus == fit->gpus;
}

}  // namespace

Reproduction reproduce(const ReplayOptions& options, int threads, bool fit) {
  const std::vector<ReferenceRow> rows = load_reference();
  Reproduction result;
  if (fit) result.fit = fit_efficiency(paper_scenarios({}), rows, options);
  Settings settings;
  if (result.fit) settings = {fmt::format("compute_efficiency={:.6f}", result.fit->efficiency)};
  const std::vector<Scenario> scenarios = paper_scenarios(settings);
  std::vector<Case> cases;
  for (const Scenario& scenario : scenarios) add_scaling(cases, scenario, rows);
  add_ablation(cases, scenarios, rows, settings);

  result.runs.resize(cases.size());
  for_each_parallel(cases.size(), threads, [&](std::size_t i) {
    result.runs[i] = run_scenario(cases[i].scenario, cases[i].point.gpus, options);
  });
  for (std::size_t i = 0; i < cases.size(); ++i) {
    ReproducedPoint point = cases[i].point;
    point.run = i;
    point.fitted = is_point_of(result.fit, point);
    point.micro_batches = result.runs[i].micro_batches;
    point.tgs = result.runs[i].tgs;
    point.mfu = result.runs[i].mfu;
    point.fits = result.runs[i].fits;
    result.points.push_back(std::move(point));
  }
  result.bands = reproduction_bands(result.points);
  return result;
}

}  // namespace amsp
