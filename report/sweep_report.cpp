// SPDX-License-Identifier: Apache-2.0
#include "report/sweep_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.hpp"
#include "report/csv.hpp"
#include "report/notes.hpp"
#include "report/results.hpp"
#include "report/table.hpp"

namespace amsp {
namespace {

using Json = nlohmann::ordered_json;

std::string setting_value(const std::string& setting) {
  return setting.substr(setting.find('=') + 1);
}

// The number of GPUs has a column of its own in any case.
bool says_gpus(const std::string& setting) { return setting.rfind("gpus=", 0) == 0; }

std::vector<TableColumn> columns_of(const SweepPoint& point) {
  std::vector<TableColumn> columns;
  for (const std::string& setting : point.settings)
    if (!says_gpus(setting))
      columns.push_back({setting.substr(0, setting.find('=')), "", Align::left});
  for (const char* name : {"gpus", "micro_batches"}) columns.push_back({name});
  columns.insert(columns.end(), {{"step_time", "s"},
                                 {"tgs"},
                                 {"mfu"},
                                 {"peak_memory", "GiB"},
                                 {"fits"},
                                 {"exposed", "s"},
                                 {"refused", "", Align::left}});
  return columns;
}

std::vector<std::string> cells_of(const SweepPoint& point, const Json& json, bool exact) {
  std::vector<std::string> cells;
  for (const std::string& setting : point.settings)
    if (!says_gpus(setting)) cells.push_back(setting_value(setting));
  cells.push_back(std::to_string(point.gpus));
  if (json.contains("refused")) {
    cells.resize(cells.size() + 7);
    cells.push_back(json.at("refused").get<std::string>());
    return cells;
  }
  const auto number = [exact](double value, int digits) {
    return exact ? fmt::format("{}", value) : fmt::format("{:.{}f}", value, digits);
  };
  cells.push_back(std::to_string(json.at("micro_batches").get<std::int64_t>()));
  cells.push_back(number(json.at("step_time_s").get<double>(), 4));
  cells.push_back(number(json.at("tgs").get<double>(), 0));
  cells.push_back(number(json.at("mfu").get<double>(), 3));
  cells.push_back(number(json.at("peak_memory_bytes").get<double>() / gibibytes(1).value(), 1));
  cells.push_back(json.at("fits").get<bool>() ? "yes" : "no");
  cells.push_back(number(json.at("exposed_communication_s").at("total").get<double>(), 4));
  cells.emplace_back("");
  return cells;
}

// As in report/html/sections.js, which names the same run in its answer.
std::optional<std::size_t> best_of(const Json& runs) {
  std::optional<std::size_t> best;
  const auto rank = [&runs](std::size_t i) {
    return std::pair(runs[i].at("gpus").get<int>(), runs[i].at("tgs").get<double>());
  };
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (!runs[i].contains("refused") && runs[i].at("fits").get<bool>() &&
        (!best || rank(i) > rank(*best)))
      best = i;
  return best;
}

// What the table's figures do not say, each once; what is too much for a screen is in the files.
std::string notes_text(const Json& runs) {
  constexpr std::size_t kShown = 10;
  std::vector<std::string> all;
  for (const Json& run : runs)
    for (const Json& note : run.value("notes", Json::array()))
      all.push_back(note.get<std::string>());
  const std::vector<std::string> said = each_once(all);
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, said.size()); ++i) text += "\n" + said[i];
  if (said.size() > kShown)
    text += fmt::format("\n{} more notes are in results.json", said.size() - kShown);
  return text.empty() ? "" : text + "\n";
}

}  // namespace

std::string sweep_point_json(const SweepPoint& point, const RunResult* result,
                             std::string_view refused) {
  Json json{{"settings", point.settings}, {"gpus", point.gpus}};
  if (result == nullptr)
    json["refused"] = refused;
  else
    json.update(Json::parse(run_json({*result, {}})));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::optional<MergedSweep> merge_sweep(const std::vector<SweepPoint>& points) {
  if (points.empty()) return std::nullopt;
  Json runs = Json::array();
  std::size_t refused = 0;
  Table exact(columns_of(points.front())), shown(columns_of(points.front()));
  for (const SweepPoint& point : points) {
    if (!std::filesystem::exists(point.file)) return std::nullopt;
    Json json = Json::parse(read_file(point.file), nullptr, false);
    try {
      exact.add_row(cells_of(point, json, true));
      shown.add_row(cells_of(point, json, false));
    } catch (const Json::exception&) {  // no JSON, or lacks a figure
      throw InputError({point.file.string(), ""}, "is not a point of a sweep; remove it");
    }
    if (json.contains("refused")) ++refused;
    runs.push_back(std::move(json));
  }
  const auto best = best_of(runs);
  const std::string notes = notes_text(runs);
  return MergedSweep{Json{{"format", "amsp-results-1"}, {"runs", std::move(runs)}}.dump(
                         1, ' ', false, Json::error_handler_t::replace) +
                         "\n",
                     csv_text(exact),
                     table_text(shown) + notes,
                     points.size(),
                     refused,
                     best};
}

}  // namespace amsp
