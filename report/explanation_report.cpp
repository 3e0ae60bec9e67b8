// SPDX-License-Identifier: Apache-2.0
#include "report/explanation_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/counted.hpp"
#include "base/units_text.hpp"
#include "report/table.hpp"

namespace amsp {
namespace {

using nlohmann::ordered_json;

// Sums of some 1e6 doubles: below a billionth of the step a difference is rounding, not a saving.
Seconds without_noise(Seconds part, Seconds step) {
  constexpr double kNoise = 1e-9;
  return std::abs(part / step) < kNoise ? Seconds(0) : part;
}

std::string percent(Seconds part, Seconds whole) {
  const std::string text = fmt::format("{:.1f} %", 100 * (part / whole));
  return text == "-0.0 %" ? "0.0 %" : text;
}

std::string shares(const ExplanationReport& report) {
  const Seconds step = report.explanation.result.step_time;
  Table table({{"on the critical path", "", Align::left}, {"time"}, {"share"}});
  for (const PathShare& share : report.explanation.shares)
    table.add_row({share.what, human(without_noise(share.time, step)), percent(share.time, step)});
  return table_text(table);
}

// The longest stretches of the path, in time order.
std::string path(const ExplanationReport& report) {
  std::vector<PathStep> steps = report.explanation.path;
  std::stable_sort(steps.begin(), steps.end(), [](const PathStep& a, const PathStep& b) {
    return a.end - a.begin > b.end - b.begin;
  });
  if (steps.size() > static_cast<std::size_t>(report.top))
    steps.erase(steps.begin() + report.top, steps.end());
  std::stable_sort(steps.begin(), steps.end(),
                   [](const PathStep& a, const PathStep& b) { return a.begin < b.begin; });
  Table table({{"longest of the critical path", "", Align::left},
               {"rank"},
               {"from"},
               {"time"},
               {"waited for", "", Align::left}});
  for (const PathStep& step : steps)
    table.add_row({report.schedule.op(step.op).name, std::to_string(step.rank.index),
                   human(without_noise(step.begin - report.explanation.result.period_start,
                                       report.explanation.result.step_time)),
                   human(step.end - step.begin), step.why});
  return table_text(table);
}

std::string links(const ExplanationReport& report) {
  Table table({{"busiest links", "", Align::left}, {"alike"}, {"carried"}, {"busy"}});
  for (const LinkUse& use : report.explanation.links)
    table.add_row(
        {report.network.name_of(use.link) + (use.implied ? " (never the bottleneck)" : ""),
         std::to_string(use.members), human(use.carried), fmt::format("{:.1f} %", 100 * use.busy)});
  return table_text(table);
}

std::string waits(const ExplanationReport& report) {
  if (report.explanation.waits.empty()) return "No rank waits for another.\n";
  Table table({{"rank"}, {"waits for"}, {"time"}, {"longest at", "", Align::left}});
  for (const Waiting& wait : report.explanation.waits)
    table.add_row({std::to_string(wait.waits.index), std::to_string(wait.for_rank.index),
                   human(wait.time), wait.largest_op});
  return table_text(table);
}

std::string savings(const ExplanationReport& report) {
  const Seconds step = report.explanation.result.step_time;
  Table table({{"if infinitely fast", "", Align::left}, {"step time"}, {"saved"}, {"share"}});
  for (const Saving& saving : report.explanation.savings)
    table.add_row({saving.resource, human(saving.step_time),
                   human(without_noise(saving.saved, step)), percent(saving.saved, step)});
  return table_text(table);
}

}  // namespace

std::string explanation_table(const ExplanationReport& report) {
  const ReplayResult& result = report.explanation.result;
  const std::string misfit =
      report.fit_advice.empty()
          ? ""
          : fmt::format("\n{}: does not fit; {}\n", counted(report.schedule.world, "GPU"),
                        report.fit_advice);
  return fmt::format(
      "step time {} on {} ranks ({} rank classes, {} link classes)\n{}\n{}\n{}\n{}\n{}\n{}",
      human(result.step_time), report.schedule.world, result.rank_classes.size(),
      result.link_classes, misfit, shares(report), path(report), links(report), waits(report),
      savings(report));
}

std::string explanation_json(const ExplanationReport& report) {
  const Explanation& explanation = report.explanation;
  ordered_json json{{"step_time_s", explanation.result.step_time.value()},
                    {"ranks", report.schedule.world},
                    {"rank_classes", explanation.result.rank_classes.size()},
                    {"link_classes", explanation.result.link_classes},
                    {"fits", report.fit_advice.empty()}};
  if (!report.fit_advice.empty()) json["fit_advice"] = report.fit_advice;
  json["critical_path_shares_s"] = ordered_json::object();
  for (const PathShare& share : explanation.shares)
    json["critical_path_shares_s"][share.what] = share.time.value();
  json["critical_path"] = ordered_json::array();
  for (const PathStep& step : explanation.path)
    json["critical_path"].push_back({{"op", report.schedule.op(step.op).name},
                                     {"rank", step.rank.index},
                                     {"begin_s", step.begin.value()},
                                     {"end_s", step.end.value()},
                                     {"waited_for", step.why}});
  json["busiest_links"] = ordered_json::array();
  for (const LinkUse& use : explanation.links)
    json["busiest_links"].push_back({{"link", report.network.name_of(use.link)},
                                     {"alike", use.members},
                                     {"carried_bytes", use.carried.value()},
                                     {"busy", use.busy},
                                     {"never_the_bottleneck", use.implied}});
  json["waits"] = ordered_json::array();
  for (const Waiting& wait : explanation.waits)
    json["waits"].push_back({{"rank", wait.waits.index},
                             {"waits_for", wait.for_rank.index},
                             {"time_s", wait.time.value()},
                             {"longest_at", wait.largest_op}});
  json["savings"] = ordered_json::array();
  for (const Saving& saving : explanation.savings)
    json["savings"].push_back({{"if_infinitely_fast", saving.resource},
                               {"step_time_s", saving.step_time.value()},
                               {"saved_s", saving.saved.value()}});
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace amsp
