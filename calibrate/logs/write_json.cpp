// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <nlohmann/json.hpp>

#include "calibrate/logs/write_runs.hpp"

namespace amsp {
namespace {

using nlohmann::ordered_json;

// Back to the printed decimal: 7.84e-6 s x 1e6 is 7.84, not 7.840000000000001.
double decimal(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double scale = std::pow(10.0, 12 - std::ceil(std::log10(std::abs(value))));
  const double rounded = std::round(value * scale) / scale;
  return std::isfinite(rounded) ? rounded : value;
}

ordered_json rate(const std::optional<Bandwidth>& bandwidth) {
  return bandwidth ? ordered_json(decimal(bandwidth->value() * 1e-9)) : ordered_json(nullptr);
}

template <class T>
ordered_json maybe(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json maybe_text(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

ordered_json half(const MeasuredTiming& timing) {
  if (!timing.time && !timing.algbw && !timing.busbw) return nullptr;
  ordered_json json;
  json["time_us"] =
      timing.time ? ordered_json(decimal(timing.time->value() * 1e6)) : ordered_json(nullptr);
  json["algbw_GBps"] = rate(timing.algbw);
  json["busbw_GBps"] = rate(timing.busbw);
  json["wrong"] = maybe(timing.wrong);
  if (timing.time_derived) json["time_derived"] = true;
  return json;
}

ordered_json row_json(const MeasuredRow& row) {
  ordered_json json;
  json["line"] = row.line;
  json["bytes"] = static_cast<std::int64_t>(row.bytes.value());
  json["count"] = maybe(row.count);
  json["dtype"] =
      row.dtype ? ordered_json(std::string(name_of(*row.dtype))) : ordered_json(nullptr);
  if (!row.dtype_text.empty()) json["dtype_as_printed"] = row.dtype_text;
  json["redop"] = maybe_text(row.redop);
  json["root"] = maybe(row.root);
  json["out_of_place"] = half(row.out_of_place);
  json["in_place"] = half(row.in_place);
  if (!row.algorithm.empty()) json["algorithm"] = row.algorithm;
  if (!row.protocol.empty()) json["protocol"] = row.protocol;
  if (row.channels) json["channels"] = *row.channels;
  return json;
}

ordered_json tuning_json(const MeasuredRun& run) {
  ordered_json json;
  json["choices"] = ordered_json::array();
  for (const TuningChoice& choice : run.tuning_choices) {
    ordered_json entry;
    entry["line"] = choice.line;
    entry["collective"] = choice.collective ? ordered_json(std::string(name_of(*choice.collective)))
                                            : ordered_json(nullptr);
    entry["bytes"] = static_cast<std::int64_t>(choice.bytes.value());
    entry["algorithm"] = choice.algorithm;
    entry["protocol"] = choice.protocol;
    entry["channels"] = maybe(choice.channels);
    json["choices"].push_back(std::move(entry));
  }
  json["models"] = ordered_json::array();
  for (const TuningModel& model : run.tuning_models) {
    ordered_json entry;
    entry["line"] = model.line;
    entry["collective"] = std::string(name_of(model.collective));
    entry["algorithm"] = model.algorithm;
    entry["protocol"] = model.protocol;
    entry["latency_us"] = decimal(model.latency.value() * 1e6);
    entry["algbw_GBps"] = decimal(model.algbw.value() * 1e-9);
    json["models"].push_back(std::move(entry));
  }
  return json;
}

void write_facts(const MeasuredRun& run, ordered_json& json) {
  json["file"] = run.file;
  json["sha256"] = run.sha256;
  json["format"] = run.format;
  json["first_line"] = run.first_line;
  json["last_line"] = run.last_line;
  json["collective"] =
      run.collective ? ordered_json(std::string(name_of(*run.collective))) : ordered_json(nullptr);
  json["collective_as_printed"] = maybe_text(run.collective_text);
  json["nranks"] = maybe(run.nranks);
  json["nnodes"] = maybe(run.nnodes);
  json["gpus_per_node"] = maybe(run.gpus_per_node);
  json["gpu"] = maybe_text(run.gpu);
  json["library"] = maybe_text(run.library);
  json["nccl_version"] = maybe_text(run.nccl_version);
  json["nics"] = run.nics;
  json["nics_per_node"] = maybe(run.nics_per_node);
  json["network"] = maybe_text(run.network);
  json["algorithm"] = maybe_text(run.algorithm);
  json["protocol"] = maybe_text(run.protocol);
  json["channels"] = maybe(run.channels);
  json["variant"] = maybe_text(run.variant);
  json["cpu_time"] = run.cpu_time;
}

ordered_json run_json(const MeasuredRun& run) {
  ordered_json json;
  write_facts(run, json);
  json["rows"] = ordered_json::array();
  for (const MeasuredRow& row : run.rows) json["rows"].push_back(row_json(row));
  json["avg_busbw_GBps"] = rate(run.avg_busbw);
  json["out_of_bounds"] = maybe(run.out_of_bounds);
  json["failure"] = maybe_text(run.failure);
  json["refused"] = ordered_json::array();
  for (const RefusedLine& refused : run.refused)
    json["refused"].push_back(
        {{"line", refused.line}, {"text", refused.text}, {"reason", refused.reason}});
  json["notes"] = run.notes;
  if (!run.tuning_choices.empty() || !run.tuning_models.empty()) json["tuning"] = tuning_json(run);
  return json;
}

}  // namespace

std::string runs_to_json(std::span<const MeasuredRun> runs) {
  ordered_json json;
  json["format"] = "amsp measured runs 1";
  json["size_convention"] = "bytes is the whole buffer, as the size column of nccl-tests";
  json["runs"] = ordered_json::array();
  for (const MeasuredRun& run : runs) json["runs"].push_back(run_json(run));
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace amsp
