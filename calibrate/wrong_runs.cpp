// SPDX-License-Identifier: Apache-2.0
#include "calibrate/wrong_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/counted.hpp"
#include "base/median.hpp"
#include "calibrate/logs/likely_unit.hpp"

namespace amsp {
namespace {

// To two digits: bandwidths are printed with few.
std::string rounded(double factor) {
  const double unit = std::pow(10, std::floor(std::log10(factor)) - 1);
  return fmt::format("{:.12g}", std::round(factor / unit) * unit);
}

// "by the same factor, 1000: is the time in ns, or algbw in MB/s?"
std::string cause(const std::vector<double>& factors) {
  if (factors.empty()) return "";
  const auto [least, most] = std::minmax_element(factors.begin(), factors.end());
  const double typical = median(factors);
  // Two printed digits of an algbw are half a percent off at best, one digit 10 %.
  if (*most / *least > 1.25) return " by different factors: edited, or columns mixed up?";
  const std::string unit = unit_question(typical);
  return fmt::format(" by the same factor, {}{}", rounded(typical < 1 ? 1 / typical : typical),
                     unit.empty() ? "" : ": " + unit);
}

}  // namespace

std::optional<std::string> wrong_as_a_whole(const MeasuredRun& run) {
  std::vector<double> factors;
  std::size_t contradicting = 0, halves = 0;
  for (const RefusedLine& line : run.refused) {
    if (line.contradiction) ++contradicting;
    if (line.contradiction && line.factor > 0) factors.push_back(line.factor);
  }
  std::string units;  // the first row's question about its halves
  for (const MeasuredRow& row : run.rows)
    if (const std::string question = halves_question(row); !question.empty()) {
      ++halves;
      if (units.empty()) units = question;
    }
  const std::size_t sizes = contradicting + run.rows.size();
  if (2 * (contradicting + halves) <= sizes) return std::nullopt;
  std::string text = fmt::format("{} of {}", contradicting + halves, counted(sizes, "size"));
  text += contradicting == 0 ? " cannot be" : " contradict themselves" + cause(factors);
  if (!units.empty()) text += fmt::format("{} {}", contradicting == 0 ? ":" : ";", units);
  return text;
}

}  // namespace amsp
