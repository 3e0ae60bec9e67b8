// SPDX-License-Identifier: Apache-2.0
#include "calibrate/validation_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/units_text.hpp"
#include "calibrate/measured_scatter.hpp"
#include "calibrate/validation_gaps.hpp"

namespace amsp {
namespace {

constexpr std::string_view large_name = "from 16 MiB", small_name = "below 16 MiB";

std::string left_out_text(const HeldOutRow& row) {
  if (row.left_out != LeftOut::scales_above) return std::string(name_of(row.left_out));
  return row.scale_ratio <= 2 ? "scales above, to 2x" : "scales above, 2x to 4x";
}

double percent(double log_error) { return 100 * (std::exp(log_error) - 1); }

std::string rows_text(const std::vector<HeldOutRow>& held_out) {
  std::string text = "left-out rows (error: predicted / measured - 1; of the straight line):\n";
  for (const HeldOutRow& held : held_out) {
    const Observation& row = held.row;
    const std::string line =
        held.line_log_error ? fmt::format("{:+.1f} %", percent(*held.line_log_error)) : "-";
    text += fmt::format(
        "  {:<22} {:<14} {:>6} ranks {:>4} {:<5} {:>10} {:>10} {:>+8.1f} % {:>10}"
        "  {}  {} {}\n",
        left_out_text(held), name_of(row.kind), row.shape.ranks, row.shape.nodes,
        row.shape.nodes == 1 ? "node" : "nodes", human(row.bytes), human(row.time),
        percent(held.log_error), line, held.covered ? "in 90 %" : "outside", row.source, row.place);
  }
  return text;
}

std::string group_text(const std::tuple<std::string, std::string, std::string>& key,
                       const std::vector<HeldOutRow>& rows) {
  const ErrorSummary fit = summarise(rows);
  const ErrorSummary line = summarise_lines(rows);
  const std::string lines = line.rows == 0 ? fmt::format("{:>6} {:>8} {:>8}", "-", "-", "-")
                                           : fmt::format("{:>6} {:>6.1f} % {:>6.1f} %", line.rows,
                                                         100 * line.median, 100 * line.p95);
  return fmt::format("{:<13} {:<23} {:<15} {:>6} {:>6.1f} % {:>6.1f} % {:>7.0f} %  {}\n",
                     std::get<0>(key), std::get<1>(key), std::get<2>(key), fit.rows,
                     100 * fit.median, 100 * fit.p95, 100 * fit.covered, lines);
}

std::string errors_text(const std::vector<HeldOutRow>& held_out) {
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<HeldOutRow>> groups;
  for (const HeldOutRow& row : held_out) {
    const std::string size(row.row.bytes >= large_size ? large_name : small_name);
    groups[{size, left_out_text(row), "all kinds"}].push_back(row);
    groups[{size, left_out_text(row), std::string(name_of(row.row.kind))}].push_back(row);
  }
  std::string text =
      fmt::format("{:<53} {:^35}  straight line between neighbours\n", "", "the fit");
  text += fmt::format("{:<13} {:<23} {:<15} {:>6} {:>8} {:>8} {:>9}  {:>6} {:>8} {:>8}\n", "sizes",
                      "left out", "collective", "rows", "median", "p95", "in 90 %", "rows",
                      "median", "p95");
  for (const auto& [key, rows] : groups) text += group_text(key, rows);
  return text;
}

// The value that a share of the sorted pairs does not exceed.
double share_of(const std::vector<Scatter>& sorted, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1].difference;
}

std::string scatter_text(const std::vector<Observation>& rows) {
  std::map<std::pair<bool, bool>, std::vector<Scatter>> groups;
  for (Scatter& pair : measured_scatter(rows)) {
    groups[{!pair.large, !pair.places}].push_back(std::move(pair));
  }
  std::string text = "\nThe same point measured twice (longer / shorter - 1):\n";
  if (groups.empty()) return text + "  no point was measured twice\n";
  for (auto& [key, pairs] : groups) {
    std::stable_sort(pairs.begin(), pairs.end(), [](const Scatter& a, const Scatter& b) {
      return a.difference < b.difference;
    });
    text += fmt::format(
        "{:<13} {:<28} {:>6} {} median {:>5.1f} %, p95 {:>5.1f} %, most {:.1f} "
        "% ({})\n",
        key.first ? small_name : large_name, key.second ? "out of place and in place" : "two runs",
        pairs.size(), pairs.size() == 1 ? "pair, " : "pairs,", 100 * share_of(pairs, 0.5),
        100 * share_of(pairs, 0.95), 100 * pairs.back().difference, pairs.back().description);
  }
  return text;
}

}  // namespace

std::string validation_report(const std::vector<HeldOutRow>& held_out,
                              const std::vector<Observation>& rows, bool all_rows) {
  return (all_rows ? rows_text(held_out) + "\n" : std::string()) + errors_text(held_out) +
         validation_gaps(held_out, rows) + scatter_text(rows);
}

}  // namespace amsp
