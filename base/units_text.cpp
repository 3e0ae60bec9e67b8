// SPDX-License-Identifier: Apache-2.0
#include "base/units_text.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <span>

namespace amsp {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr double kKi = 1024.0, kMi = kKi * 1024, kGi = kMi * 1024, kTi = kGi * 1024,
                 kPi = kTi * 1024;

// The first unit of each table is the base unit that to_text() falls back on.
constexpr std::array kBytes{Unit{"B", 1},     Unit{"KB", 1e3},  Unit{"MB", 1e6},  Unit{"GB", 1e9},
                            Unit{"TB", 1e12}, Unit{"PB", 1e15}, Unit{"KiB", kKi}, Unit{"MiB", kMi},
                            Unit{"GiB", kGi}, Unit{"TiB", kTi}, Unit{"PiB", kPi}};
constexpr std::array kSeconds{Unit{"s", 1},     Unit{"ns", 1e-9}, Unit{"us", 1e-6},
                              Unit{"µs", 1e-6}, Unit{"ms", 1e-3}, Unit{"min", 60},
                              Unit{"h", 3600}};
constexpr std::array kRates{
    Unit{"Bps", 1},      Unit{"KBps", 1e3},   Unit{"MBps", 1e6},   Unit{"GBps", 1e9},
    Unit{"TBps", 1e12},  Unit{"B/s", 1},      Unit{"KB/s", 1e3},   Unit{"MB/s", 1e6},
    Unit{"GB/s", 1e9},   Unit{"TB/s", 1e12},  Unit{"KiBps", kKi},  Unit{"MiBps", kMi},
    Unit{"GiBps", kGi},  Unit{"TiBps", kTi},  Unit{"KiB/s", kKi},  Unit{"MiB/s", kMi},
    Unit{"GiB/s", kGi},  Unit{"TiB/s", kTi},  Unit{"bps", 0.125},  Unit{"Kbps", 125},
    Unit{"Mbps", 125e3}, Unit{"Gbps", 125e6}, Unit{"Tbps", 125e9}, Unit{"Gb/s", 125e6},
    Unit{"kbit", 125},   Unit{"mbit", 125e3}, Unit{"gbit", 125e6}};
constexpr std::array kFlops{Unit{"FLOP", 1},     Unit{"MFLOP", 1e6},  Unit{"GFLOP", 1e9},
                            Unit{"TFLOP", 1e12}, Unit{"PFLOP", 1e15}, Unit{"EFLOP", 1e18}};
constexpr std::array kFlopRates{Unit{"FLOPS", 1},     Unit{"MFLOPS", 1e6},  Unit{"GFLOPS", 1e9},
                                Unit{"TFLOPS", 1e12}, Unit{"PFLOPS", 1e15}, Unit{"FLOP/s", 1},
                                Unit{"MFLOP/s", 1e6}, Unit{"GFLOP/s", 1e9}, Unit{"TFLOP/s", 1e12},
                                Unit{"PFLOP/s", 1e15}};

constexpr std::array kTokens{Unit{"tokens", 1},     Unit{"ktokens", 1e3},  Unit{"Ktokens", 1e3},
                             Unit{"Mtokens", 1e6},  Unit{"Gtokens", 1e9},  Unit{"Btokens", 1e9},
                             Unit{"Ttokens", 1e12}, Unit{"Kitokens", kKi}, Unit{"Mitokens", kMi},
                             Unit{"Gitokens", kGi}};

std::string accepted_units(std::span<const Unit> units) {
  std::string text;
  for (const Unit& unit : units) text += (text.empty() ? "" : " ") + std::string(unit.name);
  return text;
}

double parse(std::string_view text, std::span<const Unit> units, std::string_view what,
             std::string_view example, const Place& place) {
  const auto refuse = [&](std::string_view why) -> double {
    throw InputError(
        place, fmt::format("\"{}\" is not a {} ({}); write e.g. {}; accepted units: {}", text, what,
                           why, example, accepted_units(units)));
  };
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || !std::isfinite(number)) return refuse("no number");
  if (number < 0) return refuse("negative");
  std::string_view unit(after, static_cast<std::size_t>(end - after));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  if (unit.empty()) return refuse("no unit");
  for (const Unit& known : units)
    if (known.name == unit)
      return std::isfinite(number * known.factor) ? number * known.factor : refuse("too large");
  return refuse(fmt::format("unknown unit \"{}\"", unit));
}

std::string scaled(double value, std::span<const Unit> ascending) {
  const Unit* best = &ascending.front();
  for (const Unit& unit : ascending)
    if (std::abs(value) >= unit.factor * 0.9995) best = &unit;
  return fmt::format("{:.4g} {}", value / best->factor, best->name);
}

}  // namespace

Bytes parse_bytes(std::string_view text, const Place& place) {
  // A number alone may have been meant in bytes: it is shown with that unit.
  const bool bare = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  const std::string example = bare ? fmt::format("{}B or 80GiB", text) : "80GiB";
  return Bytes(parse(text, kBytes, "size", example, place));
}
Seconds parse_seconds(std::string_view text, const Place& place) {
  return Seconds(parse(text, kSeconds, "time", "25us", place));
}
Bandwidth parse_bandwidth(std::string_view text, const Place& place) {
  return Bandwidth(parse(text, kRates, "rate", "100Gbps or 12.5GBps", place));
}
Flops parse_flops(std::string_view text, const Place& place) {
  return Flops(parse(text, kFlops, "number of operations", "3.2TFLOP", place));
}
FlopRate parse_flop_rate(std::string_view text, const Place& place) {
  return FlopRate(parse(text, kFlopRates, "FLOP rate", "312TFLOPS", place));
}
Tokens parse_tokens(std::string_view text, const Place& place) {
  std::string joined;  // "4Mi tokens", "4MTokens": a blank before the word, its capital
  for (const char c : text)
    if (c != ' ') joined += c;
  if (joined.ends_with("Tokens")) joined[joined.size() - 6] = 't';
  return Tokens(parse(joined, kTokens, "number of tokens", "300B tokens", place));
}

std::string to_text(Bytes quantity) { return fmt::format("{}B", quantity.value()); }
std::string to_text(Seconds quantity) { return fmt::format("{}s", quantity.value()); }
std::string to_text(Bandwidth quantity) { return fmt::format("{}Bps", quantity.value()); }
std::string to_text(Flops quantity) { return fmt::format("{}FLOP", quantity.value()); }
std::string to_text(FlopRate quantity) { return fmt::format("{}FLOPS", quantity.value()); }

std::string human(Bytes quantity) {
  constexpr std::array units{Unit{"B", 1}, Unit{"KiB", kKi}, Unit{"MiB", kMi}, Unit{"GiB", kGi},
                             Unit{"TiB", kTi}};
  return scaled(quantity.value(), units);
}
std::string human(Seconds quantity) {
  constexpr std::array units{Unit{"ns", 1e-9}, Unit{"us", 1e-6}, Unit{"ms", 1e-3}, Unit{"s", 1}};
  return quantity.value() == 0 ? "0 s" : scaled(quantity.value(), units);
}
std::string human(Bandwidth quantity) {
  constexpr std::array units{Unit{"B/s", 1}, Unit{"KB/s", 1e3}, Unit{"MB/s", 1e6},
                             Unit{"GB/s", 1e9}, Unit{"TB/s", 1e12}};
  return scaled(quantity.value(), units);
}
std::string human(Flops quantity) {
  constexpr std::array units{Unit{"FLOP", 1}, Unit{"GFLOP", 1e9}, Unit{"TFLOP", 1e12},
                             Unit{"PFLOP", 1e15}};
  return scaled(quantity.value(), units);
}
std::string human(FlopRate quantity) {
  constexpr std::array units{Unit{"FLOPS", 1}, Unit{"GFLOPS", 1e9}, Unit{"TFLOPS", 1e12},
                             Unit{"PFLOPS", 1e15}};
  return scaled(quantity.value(), units);
}

}  // namespace amsp
