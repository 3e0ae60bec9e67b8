// SPDX-License-Identifier: Apache-2.0
// In which unit are the times? bytes / time must be the printed algbw; a constant factor between
// them over the rows of a table is a unit, not an error.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "calibrate/logs/raw_run.hpp"

namespace amsp {
namespace {

struct UnitGuess {
  double factor;  // (bytes / time as µs) / algbw as printed
  double time_scale;
  double rate_scale;
  const char* note;
};
constexpr std::array<UnitGuess, 7> kGuesses{
    {{1, 1, 1, ""},
     {1e3, 1e3, 1, "times are in milliseconds (bytes / time = algbw only then); converted"},
     {1e6, 1e6, 1, "times are in seconds (bytes / time = algbw only then); converted"},
     {0.125, 1, 0.125, "bandwidths are in Gbit/s (8 x bytes / time); converted"},
     {1.073741824, 1, 1.073741824, "bandwidths are in GiB/s (bytes / time / 2^30); converted"},
     {1e-3, 1, 1e-3, "bandwidths are in MB/s (bytes / time); converted"},
     {1e-3, 1e-3, 1, "times are in nanoseconds (bytes / time = algbw only then); converted"}}};
constexpr std::size_t kMegabytes = 5, kNanoseconds = 6;

void scale(PrintedTiming& printed, MeasuredTiming& timing, const UnitGuess& guess) {
  if (timing.time) timing.time = *timing.time * guess.time_scale;
  if (timing.algbw) timing.algbw = *timing.algbw * guess.rate_scale;
  if (timing.busbw) timing.busbw = *timing.busbw * guess.rate_scale;
  const auto times = [](std::optional<PrintedNumber>& number, double by) {
    if (number) number = PrintedNumber{number->value * by, number->half_unit * by};
  };
  times(printed.time, guess.time_scale);
  times(printed.algbw, guess.rate_scale);
  times(printed.busbw, guess.rate_scale);
}

// Which guess do most of the telling rows fit within 2 %? Index, or 0.
std::size_t best_guess(const RawRun& raw, std::size_t& telling) {
  std::array<std::size_t, kGuesses.size()> votes{};
  telling = 0;
  for (const ParsedRow& parsed : raw.rows)
    for (const PrintedTiming* timing : {&parsed.out_of_place, &parsed.in_place}) {
      if (!timing->time || !timing->algbw || timing->time->value <= 0) continue;
      if (timing->algbw->value < 40 * timing->algbw->half_unit) continue;
      ++telling;
      const double factor =
          parsed.row.bytes.value() / timing->time->value * 1e-3 / timing->algbw->value;
      for (std::size_t i = 0; i < kGuesses.size(); ++i)
        if (std::abs(factor / kGuesses[i].factor - 1) < 0.02) ++votes[i];
    }
  std::size_t best = 0;
  for (std::size_t i = 1; i < votes.size(); ++i)
    if (votes[i] > votes[best]) best = i;
  return votes[best] * 10 > telling * 6 ? best : 0;
}

// MB/s and nanoseconds make the same factor. No collective takes less than 3 us, and links on which
// its smallest sizes take 3 ms (the same number in us) are rare; no GPU has 1000 GB/s of algbw, and
// a network that has less than 1000 MB/s is rare. 0 where the two disagree or do not tell.
std::size_t thousandth(const RawRun& raw) {
  constexpr double kSmall = 65536, kSlow = 3000, kWide = 1000;
  std::optional<double> fastest;
  double widest = 0;
  for (const ParsedRow& parsed : raw.rows)
    for (const PrintedTiming* timing : {&parsed.out_of_place, &parsed.in_place}) {
      if (timing->algbw) widest = std::max(widest, timing->algbw->value);
      if (timing->time && timing->time->value > 0 && parsed.row.bytes.value() <= kSmall)
        fastest = std::min(fastest.value_or(timing->time->value), timing->time->value);
    }
  if (!fastest) return widest >= kWide ? kMegabytes : 0;
  if (*fastest < kSlow) return kMegabytes;
  return widest < kWide ? kNanoseconds : 0;
}

}  // namespace

void settle_units(RawRun& raw) {
  std::size_t telling = 0;
  std::size_t best = best_guess(raw, telling);
  if (best == kMegabytes) best = thousandth(raw);
  // Sizes too small to show a bandwidth: the table's age tells.
  if (telling == 0 && raw.milliseconds_expected && !raw.unit_stated) best = 1;
  // One or two rows prove no unit: they are refused later instead.
  if (best != 0 && telling < 3 && !raw.milliseconds_expected) best = 0;
  if (best == 0) return;
  for (ParsedRow& parsed : raw.rows) {
    scale(parsed.out_of_place, parsed.row.out_of_place, kGuesses[best]);
    scale(parsed.in_place, parsed.row.in_place, kGuesses[best]);
  }
  if (raw.run.avg_busbw) raw.run.avg_busbw = *raw.run.avg_busbw * kGuesses[best].rate_scale;
  raw.run.notes.emplace_back(kGuesses[best].note);
}

}  // namespace amsp
