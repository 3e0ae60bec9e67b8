// SPDX-License-Identifier: Apache-2.0
// Cross-checks of every row; a row that contradicts itself is refused with the reason.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/counted.hpp"
#include "calibrate/logs/likely_unit.hpp"
#include "calibrate/logs/log_lines.hpp"
#include "calibrate/logs/raw_run.hpp"

namespace amsp {
namespace {

// nccl-tests prints the three columns from one time: they agree within their last digits. 1.2 % on
// top is what the published logs need at most (averages over ranks are taken separately). Numbers
// edited or rounded by hand are a little further apart: kept, but reported.
constexpr double kSlack = 0.012;
constexpr double kHandSlack = 0.05;

bool overlap(double low_a, double high_a, double low_b, double high_b) {
  return low_a <= high_b && low_b <= high_a;
}

std::string check_size(const MeasuredRow& row, const RawRun& raw, const TableEvidence& evidence) {
  if (!row.count || !row.dtype) return "";
  const double whole = static_cast<double>(*row.count) * size_of(*row.dtype).value();
  const double bytes = row.bytes.value();
  if (whole == bytes) return "";
  for (const double n : {static_cast<double>(raw.run.nranks.value_or(0)),
                         static_cast<double>(evidence.parts.value_or(0))}) {
    // Before the sizes were rounded (nccl-tests 2.2 and older) the size column was as asked for.
    const double unit = n * size_of(*row.dtype).value();
    if (n >= 1 && bytes >= whole * n && bytes - whole * n < unit) return "";
  }
  return fmt::format(
      "size {:.0f} B is not count {} x {} ({} B each){}", bytes, *row.count, row.dtype_text,
      size_of(*row.dtype).value(),
      raw.run.nranks.value_or(1) > 1 ? fmt::format(", nor {} times that", *raw.run.nranks) : "");
}

// What contradicts what; "" when nothing does.
struct Contradiction {
  std::string reason;
  double factor = 0;  // (bytes / time) / algbw where these are at odds
};

Contradiction check_half(const PrintedTiming& timing, const MeasuredRow& row, const RawRun& raw,
                         const TableEvidence& evidence, std::string_view half, double slack) {
  const double bytes = row.bytes.value();
  if (bytes <= 0) return {};
  if (timing.time && timing.time->value <= 0) return {fmt::format("{} time is 0", half)};
  double low = 0;
  double high = 1e300;
  if (timing.time) {
    const double unit = std::min(timing.time->half_unit, 0.5 * timing.time->value);
    low = bytes * 1e-3 / (timing.time->value + unit) * (1 - slack);
    high = bytes * 1e-3 / (timing.time->value - unit) * (1 + slack);
    if (evidence.old_gather) {
      const double n = static_cast<double>(*evidence.parts);
      low *= (n - 1) / n;
      high *= (n - 1) / n;
    }
    if (timing.algbw && !overlap(low, high, timing.algbw->value - timing.algbw->half_unit,
                                 timing.algbw->value + timing.algbw->half_unit)) {
      const double rate = bytes * 1e-3 / timing.time->value;
      const bool telling = timing.algbw->value >= 20 * timing.algbw->half_unit;
      const double off = telling ? rate / timing.algbw->value : 0;
      const std::string question = unit_question(off);
      return {fmt::format("{} algbw is {:g} GB/s, but {:.0f} B in {:g} us are {:.4g} GB/s{}", half,
                          timing.algbw->value, bytes, timing.time->value, rate,
                          question.empty() ? "" : " (" + question + ")"),
              off};
    }
  } else if (timing.algbw) {
    low = (timing.algbw->value - timing.algbw->half_unit) * (1 - slack);
    high = (timing.algbw->value + timing.algbw->half_unit) * (1 + slack);
  }
  if (!timing.busbw || !raw.run.collective || !raw.run.nranks || high >= 1e299) return {};
  const double factor =
      evidence.old_gather ? 1 : bus_factor(*raw.run.collective, std::max(1, *raw.run.nranks));
  if (overlap(low * factor, high * factor, timing.busbw->value - timing.busbw->half_unit,
              timing.busbw->value + timing.busbw->half_unit))
    return {};
  return {fmt::format("{} busbw is {:g} GB/s, but {} over {} has {:.4g} x algbw", half,
                      timing.busbw->value, name_of(*raw.run.collective),
                      counted(*raw.run.nranks, "rank"), factor)};
}

Contradiction check_halves(const ParsedRow& parsed, const RawRun& raw,
                           const TableEvidence& evidence, double slack) {
  Contradiction first =
      check_half(parsed.out_of_place, parsed.row, raw, evidence, "out-of-place", slack);
  if (!first.reason.empty()) return first;
  return check_half(parsed.in_place, parsed.row, raw, evidence, "in-place", slack);
}

std::string printed_row(const MeasuredRow& row) {
  std::string text = fmt::format("{:.0f} {} {} {}", row.bytes.value(), row.count.value_or(0),
                                 row.dtype_text, row.redop);
  for (const MeasuredTiming* half : {&row.out_of_place, &row.in_place})
    if (half->time)
      text += fmt::format(" {:g} us", half->time->value() * 1e6) +
              (half->algbw ? fmt::format(" {:g}", half->algbw->value() * 1e-9) : "") +
              (half->busbw ? fmt::format(" {:g}", half->busbw->value() * 1e-9) : "");
  return printable(text);
}

// Is the printed average that of the rows that were read?
void check_average(RawRun& raw) {
  if (!raw.run.avg_busbw || raw.run.rows.empty()) return;
  double sum = 0;
  std::size_t count = 0;
  for (const MeasuredRow& row : raw.run.rows)
    for (const MeasuredTiming* half : {&row.out_of_place, &row.in_place})
      if (half->busbw) {
        sum += half->busbw->value();
        ++count;
      }
  if (count == 0) return;
  const double mean = sum / static_cast<double>(count);
  const double printed = raw.run.avg_busbw->value();
  if (std::abs(mean - printed) > 0.01 * printed + 0.02e9)
    raw.run.notes.push_back(
        fmt::format("the log's average bus bandwidth is {:g} GB/s, that of the rows read {:.6g} "
                    "GB/s: rows are missing or edited",
                    printed * 1e-9, mean * 1e-9));
}

void take_common_facts(RawRun& raw) {
  MeasuredRun& run = raw.run;
  RunFacts& facts = raw.facts;
  if (run.library.empty()) run.library = facts.library;
  if (run.nccl_version.empty())
    run.nccl_version = facts.library_version.empty() ? facts.header_version : facts.library_version;
  if (run.library.empty() && !run.nccl_version.empty()) run.library = "NCCL";
  if (run.nics.empty()) run.nics = facts.nics;
  if (!run.nics_per_node) run.nics_per_node = facts.nics_per_node;
  if (run.network.empty()) run.network = facts.network;
  if (run.algorithm.empty()) run.algorithm = facts.algorithm;
  if (run.protocol.empty()) run.protocol = facts.protocol;
  if (run.failure.empty()) run.failure = facts.failure;
  run.tuning_choices = std::move(facts.tuning_choices);
  run.tuning_models = std::move(facts.tuning_models);
}

// The tuner's choice for a size is the row's, where the log has exactly one for it.
void take_choices(MeasuredRun& run) {
  for (MeasuredRow& row : run.rows) {
    if (!row.algorithm.empty()) continue;
    const auto chosen = std::find_if(
        run.tuning_choices.begin(), run.tuning_choices.end(), [&](const TuningChoice& choice) {
          return choice.bytes == row.bytes &&
                 (!choice.collective || choice.collective == run.collective);
        });
    if (chosen == run.tuning_choices.end()) continue;
    row.algorithm = chosen->algorithm;
    row.protocol = chosen->protocol;
    row.channels = chosen->channels;
  }
}

// A bandwidth without a time gives one, where the collective's factor is known.
void derive_time(const MeasuredRun& run, MeasuredRow& row, MeasuredTiming& timing) {
  if (timing.time || row.bytes.value() <= 0) return;
  std::optional<double> algbw;
  if (timing.algbw) algbw = timing.algbw->value();
  if (!algbw && timing.busbw && run.collective && run.nranks && *run.nranks > 1)
    algbw = timing.busbw->value() / bus_factor(*run.collective, *run.nranks);
  const bool factor_is_one = run.collective == CollectiveKind::broadcast ||
                             run.collective == CollectiveKind::reduce ||
                             run.collective == CollectiveKind::send_recv;
  if (!algbw && timing.busbw && factor_is_one) algbw = timing.busbw->value();
  if (!algbw || *algbw <= 0) return;
  timing.time = Seconds(row.bytes.value() / *algbw);
  timing.time_derived = true;
}

}  // namespace

void check_rows(RawRun& raw, const TableEvidence& evidence) {
  MeasuredRun& run = raw.run;
  const auto note = [&](const ParsedRow& parsed, const char* kept, const std::string& text) {
    if (!text.empty() && run.notes.size() < 200)
      run.notes.push_back(fmt::format("line {}: {}{}", parsed.row.line, kept, text));
  };
  for (ParsedRow& parsed : raw.rows) {
    Contradiction found{check_size(parsed.row, raw, evidence)};
    if (found.reason.empty()) found = check_halves(parsed, raw, evidence, kHandSlack);
    const std::string halves = halves_question(parsed.row);
    if (!found.reason.empty()) {
      if (!halves.empty()) found.reason += "; " + halves;
      run.refused.push_back(
          {parsed.row.line, printed_row(parsed.row), found.reason, true, found.factor});
      continue;
    }
    note(parsed, "kept, but ", check_halves(parsed, raw, evidence, kSlack).reason);
    note(parsed, "kept, but ", halves);
    note(parsed, "", parsed.note);
    run.rows.push_back(std::move(parsed.row));
  }
  std::stable_sort(run.refused.begin(), run.refused.end(),
                   [](const RefusedLine& a, const RefusedLine& b) { return a.line < b.line; });
}

MeasuredRun finish_run(RawRun raw, std::string_view stem) {
  settle_units(raw);
  const TableEvidence evidence = table_evidence(raw);
  settle_collective(raw, evidence, stem);
  settle_ranks(raw, evidence, stem);
  settle_nodes(raw, stem);
  if (evidence.old_gather)
    raw.run.notes.emplace_back(
        "algbw counts only the part that moves, (n-1)/n of the size (gathers of nccl-tests before "
        "June 2020, and hypercube), so that algbw = busbw");
  take_common_facts(raw);
  check_rows(raw, evidence);
  take_choices(raw.run);
  for (MeasuredRow& row : raw.run.rows) {
    derive_time(raw.run, row, row.out_of_place);
    derive_time(raw.run, row, row.in_place);
  }
  check_average(raw);
  return std::move(raw.run);
}

}  // namespace amsp
