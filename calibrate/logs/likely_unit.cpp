// SPDX-License-Identifier: Apache-2.0
#include "calibrate/logs/likely_unit.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace amsp {
namespace {

struct Unit {
  double factor;
  const char* question;
};
constexpr std::array<Unit, 5> kUnits{{{1e3, "is the time in ms?"},
                                      {1e6, "is the time in s?"},
                                      {1e-3, "is the time in ns, or algbw in MB/s?"},
                                      {0.125, "is algbw in Gbit/s?"},
                                      {1.073741824, "is algbw in GiB/s?"}}};

}  // namespace

std::string unit_question(double factor) {
  for (const Unit& unit : kUnits)
    if (std::abs(factor / unit.factor - 1) < 0.05) return unit.question;
  return "";
}

std::string halves_question(const MeasuredRow& row) {
  if (!row.out_of_place.time || !row.in_place.time) return "";
  const double out = row.out_of_place.time->value(), in = row.in_place.time->value();
  if (out <= 0 || in <= 0) return "";
  // The two are measured alike: what is left of the unit's factor stays far below 2.
  for (const double unit : {1e3, 1e6}) {
    const double off = std::abs(std::log(in / out)) - std::log(unit);
    if (std::abs(off) > std::log(2.0)) continue;
    return fmt::format("{} takes {:.0f} times as long as {}: other units?",
                       in > out ? "in place" : "out of place", std::max(in / out, out / in),
                       in > out ? "out of place" : "in place");
  }
  return "";
}

}  // namespace amsp
