// SPDX-License-Identifier: Apache-2.0
#include "report/results.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/run_parts.hpp"
#include "scenarios/reference.hpp"

namespace amsp {
namespace {

using Json = nlohmann::ordered_json;

// [low, high] of each mean, 90 %.
Json exposed_intervals(const RunResult& run) {
  Json json = Json::object();
  for (const auto& [kind, half_width] : run.exposed_half_width) {
    const auto part = run.exposed.by_collective.find(kind);
    const Seconds mean = part == run.exposed.by_collective.end() ? run.exposed.total : part->second;
    json[kind] = {(mean - half_width).value(), (mean + half_width).value()};
  }
  return json;
}

Json reference_json(const ReportedRun& reported) {
  Json json = Json::object();
  if (const auto tgs = reported.reference.tgs) {
    json["tgs"] = *tgs;
    json["tgs_error"] = reported.run.tgs / *tgs - 1;
  }
  if (const auto mfu = reported.reference.mfu) {
    json["mfu"] = *mfu;
    json["mfu_error"] = reported.run.mfu / *mfu - 1;
  }
  return json;
}

Json to_object(const ReportedRun& reported) {
  const RunResult& run = reported.run;
  Json json{{"scenario", run.scenario},
            {"gpus", run.gpus},
            {"micro_batches", run.micro_batches},
            {"step_time_s", run.step_time.value()},
            {"step_time_interval_s", {run.step_time_low.value(), run.step_time_high.value()}},
            {"tgs", run.tgs},
            {"mfu", run.mfu},
            {"peak_memory_bytes", run.memory.peak.value()},
            {"memory_limit_bytes", run.memory_limit.value()},
            {"memory_at_peak_bytes", memory_json(run.memory)},
            {"fits", run.fits}};
  if (!run.fits) json["fit_advice"] = run.fit_advice;
  json["exposed_communication_s"] = exposed_json(run.exposed);
  json["repetitions"] = run.repetitions;
  if (run.repetitions > 1) json["exposed_communication_interval_s"] = exposed_intervals(run);
  json["range"] = name_of(run.range);
  if (run.price_per_gpu_hour > 0) json["price_per_gpu_hour"] = run.price_per_gpu_hour;
  json["compute_range"] = name_of(run.compute_range);
  json["collective_range"] = name_of(run.collective_range);
  if (!run.notes.empty()) json["notes"] = run.notes;
  json["rank_classes"] = run.replay.rank_classes.size();
  json["link_classes"] = run.replay.link_classes;
  json["strategy"] = Json::parse(to_json(run.strategy));
  if (const Json reference = reference_json(reported); !reference.empty())
    json["reference"] = reference;
  json["manifest"] = Json::parse(run.manifest);
  return json;
}

}  // namespace

Comparison compare_with_reference(const Scenario& scenario, int gpus) {
  if (!scenario.reference) return {};
  const auto rows = load_reference();
  return {reference_value(rows, *scenario.reference, gpus, "TGS"),
          reference_value(rows, *scenario.reference, gpus, "MFU")};
}

std::string run_json(const ReportedRun& reported) {
  return to_object(reported).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string results_json(const std::vector<ReportedRun>& runs) {
  Json array = Json::array();
  for (const ReportedRun& reported : runs) array.push_back(to_object(reported));
  return Json{{"format", "amsp-results-1"}, {"runs", array}}.dump(1, ' ', false,
                                                                  Json::error_handler_t::replace) +
         "\n";
}

}  // namespace amsp
