// SPDX-License-Identifier: Apache-2.0
#include "report/collective_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/median.hpp"
#include "base/units_text.hpp"
#include "calibrate/wide_interval.hpp"
#include "report/table.hpp"

namespace amsp {
namespace {

double microseconds_of(Seconds time) { return time.value() * 1e6; }

struct Rates {
  double algbw = 0, busbw = 0;  // GB/s
};

Rates rates_of(const CollectiveQuestion& question, Seconds time) {
  if (!(time > Seconds(0))) return {};
  const double algbw = (question.bytes / time).value() / 1e9;
  return {algbw, algbw * bus_factor(question.kind, question.shape.ranks)};
}

}  // namespace

std::string collective_table(const CollectiveQuestion& question, const ClusterSpec& cluster,
                             const CollectiveEstimate& estimate) {
  const Rates rates = rates_of(question, estimate.time);
  const GroupShape& shape = question.shape;
  std::string text;
  text += fmt::format("{} of {} on {} GPUs ({} x {}) of {}\n", name_of(question.kind),
                      human(question.bytes), shape.ranks, shape.nodes, shape.ranks_per_node,
                      cluster.name);
  text += fmt::format("  time       {}  [{}, {}]\n", human(estimate.time), human(estimate.low),
                      human(estimate.high));
  text +=
      fmt::format("  algbw      {:.4g} GB/s\n  busbw      {:.4g} GB/s\n", rates.algbw, rates.busbw);
  text += fmt::format("  algorithm  {}, {}\n", estimate.algorithm, estimate.protocol);
  text += fmt::format("  latency    {}\n  transfer   {}\n", human(estimate.latency),
                      human(estimate.fluid));
  text += fmt::format("  SM share   {:.1f} %\n", 100 * estimate.sm_share);
  text += fmt::format("  range      {}{}{}\n", name_of(estimate.range),
                      estimate.range_note.empty() ? "" : ": ", estimate.range_note);
  const std::string wide = said_of_interval(estimate.low, estimate.high);
  return wide.empty() ? text : text + fmt::format("  note       {}\n", wide);
}

std::string collective_json(const CollectiveQuestion& question, const ClusterSpec& cluster,
                            const CollectiveEstimate& estimate) {
  const Rates rates = rates_of(question, estimate.time);
  nlohmann::ordered_json json;
  json["collective"] = name_of(question.kind);
  json["bytes"] = question.bytes.value();
  json["gpus"] = question.shape.ranks;
  json["nodes"] = question.shape.nodes;
  json["gpus_per_node"] = question.shape.ranks_per_node;
  json["cluster"] = cluster.name;
  json["time_us"] = microseconds_of(estimate.time);
  json["interval_us"] = {microseconds_of(estimate.low), microseconds_of(estimate.high)};
  json["algbw_GBps"] = rates.algbw;
  json["busbw_GBps"] = rates.busbw;
  json["algorithm"] = estimate.algorithm;
  json["protocol"] = estimate.protocol;
  json["range"] = name_of(estimate.range);
  json["range_note"] = estimate.range_note;
  if (std::string wide = said_of_interval(estimate.low, estimate.high); !wide.empty())
    json["note"] = std::move(wide);
  json["latency_us"] = microseconds_of(estimate.latency);
  json["transfer_us"] = microseconds_of(estimate.fluid);
  json["sm_share"] = estimate.sm_share;
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string comparison_table(const std::vector<Observation>& rows, const CollectiveModel& model) {
  Table table({{"collective", "", Align::left},
               {"ranks", ""},
               {"size", ""},
               {"measured", "us"},
               {"model", "us"},
               {"error", "%"},
               {"in 90 %", "", Align::left},
               {"range", "", Align::left}});
  std::vector<double> errors;
  for (const Observation& row : rows) {
    const CollectiveEstimate estimate = model.estimate(row.kind, row.bytes, Dtype::fp32, row.shape);
    const double error = estimate.time / row.time - 1;
    errors.push_back(std::abs(error));
    const bool inside = estimate.low <= row.time && row.time <= estimate.high;
    table.add_row({std::string(name_of(row.kind)), fmt::format("{}", row.shape.ranks),
                   human(row.bytes), fmt::format("{:.4g}", microseconds_of(row.time)),
                   fmt::format("{:.4g}", microseconds_of(estimate.time)),
                   fmt::format("{:+.1f}", 100 * error), inside ? "yes" : "no",
                   std::string(name_of(estimate.range))});
  }
  std::sort(errors.begin(), errors.end());
  const auto last = std::min(errors.size() - 1, errors.size() * 95 / 100);
  return table_text(table) +
         fmt::format("error (model / measured - 1): median {:.1f} %, 95th percentile {:.1f} %\n",
                     100 * median(errors), 100 * errors[last]);
}

}  // namespace amsp
