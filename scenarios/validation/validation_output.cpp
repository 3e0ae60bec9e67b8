// SPDX-License-Identifier: Apache-2.0
// A validation as table, JSON and timeline.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/units_text.hpp"
#include "scenarios/validation/validation.hpp"

namespace amsp {
namespace {

using Json = nlohmann::ordered_json;

std::string percent(double share) { return fmt::format("{:+.1f} %", 100 * share); }

std::string line(const std::string& name, const ComparedTime& time) {
  return fmt::format(
      "  {:<62} {:>10} {:>10} {:>9}{}\n", name, human(time.predicted), human(time.measured),
      percent(time.error()),
      time.spread > noisy_spread ? fmt::format("  noisy: ±{:.0f} %", 100 * time.spread) : "");
}

Json to_json(const ComparedTime& time) {
  return {{"predicted_s", time.predicted.value()},
          {"measured_s", time.measured.value()},
          {"error", time.error()},
          {"measured_spread", time.spread},
          {"noisy", time.spread > noisy_spread}};
}

void add_process(Json& events, int process, const std::string& name, const Schedule& schedule) {
  events.push_back({{"ph", "M"},
                    {"name", "process_name"},
                    {"pid", process},
                    {"tid", 0},
                    {"args", {{"name", name}}}});
  events.push_back({{"ph", "M"},
                    {"name", "process_sort_index"},
                    {"pid", process},
                    {"tid", 0},
                    {"args", {{"sort_index", process}}}});
  for (std::size_t s = 0; s < schedule.streams.size(); ++s)
    events.push_back({{"ph", "M"},
                      {"name", "thread_name"},
                      {"pid", process},
                      {"tid", s},
                      {"args", {{"name", schedule.streams[s].name}}}});
}

void add_event(Json& events, int process, const Schedule& schedule, OpId id, Seconds start,
               Seconds end) {
  const Op& op = schedule.op(id);
  if (end <= start) return;
  events.push_back({{"ph", "X"},
                    {"name", op.name},
                    {"cat", op.collective ? std::string(name_of(op.collective->kind)) : "compute"},
                    {"pid", process},
                    {"tid", op.stream.index},
                    {"ts", start.value() * 1e6},
                    {"dur", (end - start).value() * 1e6}});
}

}  // namespace

std::string to_table(const ValidationReport& report) {
  std::string text = fmt::format("Machine: {}\n\n", report.machine);
  if (report.fits.empty()) text += "Fit: as amsp calibrate\n";
  if (!report.fits.empty()) text += "Fit (alone):\n";
  if (!report.fits.empty())
    text += fmt::format("  {:<16} {:>10} {:>11} {:>11} {:>12} {:>12} {:>10}\n", "kind", "base",
                        "hop inside", "hop across", "port", "uplink", "deviation");
  for (const auto& [kind, fit] : report.fits)
    text += fmt::format("  {:<16} {:>10} {:>11} {:>11} {:>12} {:>12} {:>9.1f}%\n", name_of(kind),
                        human(fit.base), human(fit.hop_inside), human(fit.hop_across),
                        human(fit.port), human(fit.nic), 100 * fit.deviation);
  text += fmt::format("\n  {:<62} {:>10} {:>10} {:>9}\n", "collective", "predicted", "measured",
                      "error");
  for (const ValidatedCollective& one : report.collectives) text += line(one.name, one.time);
  text += fmt::format("\n  {:<62} {:>10} {:>10} {:>9}\n", "step time of", "predicted", "measured",
                      "error");
  for (const ValidatedSchedule& one : report.schedules) text += line(one.name, one.step);
  text += fmt::format("\n  {:<62} {:>10} {:>10} {:>9}\n", "exposed communication of", "predicted",
                      "measured", "error");
  for (const ValidatedSchedule& one : report.schedules) text += line(one.name, one.exposed);
  const std::string order = report.broken_order();
  text += fmt::format(
      "\nMedian error of collectives alone above 256 KiB: {:.1f} %; several at once: {:.1f} %\n"
      "Largest error of a step time: {:.1f} %\n"
      "With amsp calibrate's fit to the same rows: collectives alone {:.1f} %, step time {:.1f} %\n"
      "Order of the schedules: {}\n"
      "While measuring, other processes took {:.0f} % of the processors, the hypervisor {:.0f} %\n",
      100 * report.median_collective_error(), 100 * report.median_collective_error(false),
      100 * report.largest_step_error(), 100 * report.calibration_error,
      100 * report.calibration_step_error, order.empty() ? "as predicted" : order,
      100 * report.load.others, 100 * report.load.steal);
  return text;
}

std::string to_json(const ValidationReport& report) {
  Json json;
  json["machine"] = report.machine;
  for (const auto& [kind, fit] : report.fits)
    json["fit"][std::string(name_of(kind))] = {{"base", to_text(fit.base)},
                                               {"hop_inside", to_text(fit.hop_inside)},
                                               {"hop_across", to_text(fit.hop_across)},
                                               {"port", to_text(fit.port)},
                                               {"uplink", to_text(fit.nic)},
                                               {"deviation", fit.deviation},
                                               {"rows", fit.rows}};
  json["collectives"] = Json::array();
  for (const ValidatedCollective& one : report.collectives) {
    Json row{{"name", one.name}, {"bytes", to_text(one.bytes)}, {"alone", one.alone}};
    row.update(to_json(one.time));
    json["collectives"].push_back(std::move(row));
  }
  json["schedules"] = Json::array();
  for (const ValidatedSchedule& one : report.schedules) {
    Json row{{"name", one.name},
             {"predicted_s", one.step.predicted.value()},
             {"measured_s", one.step.measured.value()},
             {"step_time_error", one.step.error()},
             {"measured_spread", one.step.spread},
             {"noisy", one.step.spread > noisy_spread},
             {"exposed", to_json(one.exposed)}};
    for (const auto& [name, time] : one.collectives) row["collectives"][name] = to_json(time);
    json["schedules"].push_back(std::move(row));
  }
  json["median_collective_error"] = report.median_collective_error();
  json["median_collective_error_at_once"] = report.median_collective_error(false);
  json["calibration_error"] = report.calibration_error;
  json["calibration_step_error"] = report.calibration_step_error;
  json["load"] = {{"other_processes", report.load.others}, {"steal", report.load.steal}};
  json["largest_step_time_error"] = report.largest_step_error();
  const std::string order = report.broken_order();
  json["same_order"] = order.empty();
  if (!order.empty()) json["broken_order"] = order;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string validation_timeline(const ValidationReport& report) {
  Json events = Json::array();
  int process = 0;
  for (const ValidatedSchedule& one : report.schedules) {
    add_process(events, process, one.name + ": predicted", one.schedule);
    for (const OpRecord& record : one.predicted.records)
      if (record.rank == Rank(0) && record.start >= one.predicted.period_start)
        add_event(events, process, one.schedule, record.op,
                  record.start - one.predicted.period_start,
                  record.end - one.predicted.period_start);
    add_process(events, process + 1, one.name + ": executed", one.schedule);
    const int last = static_cast<int>(one.executed.step_times.size()) - 1;
    Seconds begin{1e300};
    for (const ExecRecord& record : one.executed.records)
      if (record.rank == Rank(0) && record.step == last) begin = std::min(begin, record.start);
    for (const ExecRecord& record : one.executed.records)
      if (record.rank == Rank(0) && record.step == last)
        add_event(events, process + 1, one.schedule, record.op, record.start - begin,
                  record.end - begin);
    process += 2;
  }
  return Json{{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}}.dump(
             -1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

}  // namespace amsp
