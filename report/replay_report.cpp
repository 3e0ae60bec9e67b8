// SPDX-License-Identifier: Apache-2.0
#include "report/replay_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.hpp"
#include "base/units_text.hpp"
#include "report/chrome_trace.hpp"
#include "report/csv.hpp"
#include "report/link_timeline.hpp"
#include "report/run_parts.hpp"
#include "report/table.hpp"

namespace amsp {
namespace {

using Json = nlohmann::ordered_json;

// Records of the reported step.
std::vector<OpRecord> reported(const ReplayResult& result) {
  int last = 0;
  for (const OpRecord& record : result.records) last = std::max(last, record.step);
  std::vector<OpRecord> records;
  for (const OpRecord& record : result.records)
    if (record.step == last) records.push_back(record);
  return records;
}

std::string mean_text(const RepeatedReplay& repeated, const Spread& spread) {
  if (repeated.repetitions == 1) return human(spread.mean);
  return human(spread.mean) + " ± " + human(spread.half_width);
}

std::string exposed_text(const RepeatedReplay& repeated) {
  std::string text = mean_text(repeated, repeated.exposed.at("total"));
  for (const auto& [kind, spread] : repeated.exposed)
    if (kind != "total" && spread.mean > Seconds(0))
      text += fmt::format(", {} {}", kind, mean_text(repeated, spread));
  return text;
}

std::string memory_text(const ReplayReport& report) {
  const Bytes peak = report.repeated.memory.peak;
  if (peak <= report.gpu_memory) return fmt::format("yes, in {}", human(report.gpu_memory));
  return fmt::format("no, {} more than the {} of a GPU", human(peak - report.gpu_memory),
                     human(report.gpu_memory));
}

std::string link_text(const Network& network, const LinkUse& use) {
  return network.name_of(use.link) + (use.implied ? " (never the bottleneck)" : "");
}

Table busiest_links(const ReplayReport& report) {
  constexpr std::size_t kShown = 8;
  std::vector<LinkUse> links = report.result.links;
  std::stable_sort(links.begin(), links.end(),
                   [](const LinkUse& a, const LinkUse& b) { return a.busy > b.busy; });
  Table table({{"busiest links", "", Align::left},
               {"alike"},
               {"carried", "", Align::right},
               {"for other jobs"},
               {"average use"}});
  for (std::size_t i = 0; i < std::min(kShown, links.size()); ++i)
    if (links[i].carried > Bytes(0))
      table.add_row({link_text(report.network, links[i]), std::to_string(links[i].members),
                     human(links[i].carried), human(links[i].others),
                     fmt::format("{:.1f} %", 100 * links[i].busy)});
  return table;
}

}  // namespace

std::string replay_table(const ReplayReport& report) {
  const ReplayResult& result = report.result;
  const RepeatedReplay& repeated = report.repeated;
  Table table({{"schedule", "", Align::left}, {report.schedule.name, "", Align::left}});
  table.add_row({"GPUs", std::to_string(report.schedule.world)});
  table.add_row({"step", mean_text(repeated, repeated.step_time)});
  table.add_row({"exposed communication", exposed_text(repeated)});
  if (repeated.repetitions > 1)
    table.add_row({"means of", fmt::format("{} repetitions, 90 %", repeated.repetitions)});
  table.add_row({"peak memory", human(repeated.memory.peak)});
  table.add_row({"fits", memory_text(report)});
  table.add_row({"rank classes", std::to_string(result.rank_classes.size())});
  table.add_row({"link classes", std::to_string(result.link_classes)});
  table.add_row({"predictions", std::string(name_of(result.range()))});
  const Table links = busiest_links(report);
  std::string text = table_text(table) + (links.rows().empty() ? "" : "\n" + table_text(links));
  for (const std::string& note : report.notes) text += "\n" + note + "\n";
  return text;
}

std::string replay_json(const ReplayReport& report) {
  const ReplayResult& result = report.result;
  const RepeatedReplay& repeated = report.repeated;
  Json ops = Json::array();
  for (const OpRecord& record : reported(result))
    ops.push_back({{"name", report.schedule.op(record.op).name},
                   {"rank", record.rank.index},
                   {"repetition", record.repetition},
                   {"ready_s", (record.ready - result.period_start).value()},
                   {"start_s", (record.start - result.period_start).value()},
                   {"end_s", (record.end - result.period_start).value()}});
  const Json json{{"format", "amsp-replay-1"},
                  {"schedule", report.schedule.name},
                  {"world", report.schedule.world},
                  {"repetitions", repeated.repetitions},
                  {"step_time_s", repeated.step_time.mean.value()},
                  {"step_time_half_width_s", repeated.step_time.half_width.value()},
                  {"exposed_communication_s", exposed_json(repeated.mean_exposed())},
                  {"peak_memory_bytes", repeated.memory.peak.value()},
                  {"gpu_memory_bytes", report.gpu_memory.value()},
                  {"fits", repeated.memory.peak <= report.gpu_memory},
                  {"rank_classes", result.rank_classes.size()},
                  {"link_classes", result.link_classes},
                  {"range", name_of(result.range())},
                  {"ops", ops}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string replay_csv(const ReplayReport& report) {
  Table table({{"op", "", Align::left},
               {"rank"},
               {"repetition"},
               {"ready", "s"},
               {"start", "s"},
               {"end", "s"}});
  for (const OpRecord& record : reported(report.result)) {
    const Seconds origin = report.result.period_start;
    table.add_row({report.schedule.op(record.op).name, std::to_string(record.rank.index),
                   std::to_string(record.repetition),
                   fmt::format("{}", (record.ready - origin).value()),
                   fmt::format("{}", (record.start - origin).value()),
                   fmt::format("{}", (record.end - origin).value())});
  }
  return csv_text(table);
}

void write_replay(const ReplayReport& report, const std::string& directory) {
  const std::filesystem::path folder(directory);
  write_file(folder / "replay.json", replay_json(report));
  const MemoryTimeline memory = memory_timeline(report.schedule, report.result);
  write_file(folder / "trace.json",
             chrome_trace({report.schedule, report.result, memory, &report.network,
                           report.gpu_of_rank, report.links}));
}

}  // namespace amsp
