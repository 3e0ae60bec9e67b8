// SPDX-License-Identifier: Apache-2.0
// Which collective, and over how many ranks: from what the log states, checked against what the
// table itself shows (size / count, reduction, root, busbw / algbw).
#include <algorithm>
#include <cmath>
#include <map>

#include "base/counted.hpp"
#include "calibrate/logs/log_lines.hpp"
#include "calibrate/logs/log_names.hpp"
#include "calibrate/logs/raw_run.hpp"

namespace amsp {
namespace {

struct Interval {
  double low, high;
};

// busbw / algbw of one half, as exact as the printed digits allow.
std::optional<Interval> factor_of(const PrintedTiming& timing, Bytes bytes, bool old_gather) {
  if (!timing.busbw || timing.busbw->value < 10 * timing.busbw->half_unit) return std::nullopt;
  Interval algbw{0, 1e300};
  if (timing.time && timing.time->value > 2 * timing.time->half_unit && !old_gather) {
    algbw.low = bytes.value() * 1e-3 / (timing.time->value + timing.time->half_unit);
    algbw.high = bytes.value() * 1e-3 / (timing.time->value - timing.time->half_unit);
  }
  if (timing.algbw) {
    const Interval printed{timing.algbw->value - timing.algbw->half_unit,
                           timing.algbw->value + timing.algbw->half_unit};
    // A contradiction is for check_rows(); here the printed bandwidth counts.
    const bool agree = printed.low <= algbw.high && algbw.low <= printed.high;
    algbw = agree ? Interval{std::max(algbw.low, printed.low), std::min(algbw.high, printed.high)}
                  : printed;
  }
  if (algbw.low <= 0 || algbw.high >= 1e299) return std::nullopt;
  return Interval{(timing.busbw->value - timing.busbw->half_unit) / algbw.high,
                  (timing.busbw->value + timing.busbw->half_unit) / algbw.low};
}

// The tightest row, narrowed by every other that overlaps it.
void gather_factor(const RawRun& raw, TableEvidence& evidence) {
  std::vector<Interval> all;
  for (const ParsedRow& parsed : raw.rows)
    for (const PrintedTiming* timing : {&parsed.out_of_place, &parsed.in_place})
      if (const auto factor = factor_of(*timing, parsed.row.bytes, evidence.old_gather))
        all.push_back(*factor);
  std::sort(all.begin(), all.end(),
            [](const Interval& a, const Interval& b) { return a.high - a.low < b.high - b.low; });
  if (all.empty() || all[0].high - all[0].low > 0.3) return;
  Interval kept = all[0];
  for (const Interval& next : all)
    if (next.low <= kept.high && kept.low <= next.high)
      kept = {std::max(kept.low, next.low), std::min(kept.high, next.high)};
  evidence.factor_low = kept.low;
  evidence.factor_high = kept.high;
}

// What most rows say; the others are refused later.
void gather_parts(const RawRun& raw, TableEvidence& evidence) {
  std::map<std::int64_t, std::size_t> votes;
  std::size_t telling = 0;
  for (const ParsedRow& parsed : raw.rows) {
    const MeasuredRow& row = parsed.row;
    if (!row.count || *row.count == 0 || !row.dtype || row.bytes.value() <= 0) continue;
    ++telling;
    const double ratio =
        row.bytes.value() / (static_cast<double>(*row.count) * size_of(*row.dtype).value());
    const double rounded = std::round(ratio);
    if (std::abs(ratio - rounded) > 1e-9 * ratio || rounded < 1 || rounded > 1e9) continue;
    ++votes[static_cast<std::int64_t>(rounded)];
  }
  for (const auto& [parts, count] : votes)
    if (count * 10 > telling * 6) evidence.parts = parts;
}

// nccl-tests before June 2020: algbw = busbw = (n-1)/n x size / time for all_gather and
// reduce_scatter (changed in its commit "Change all_gather/reduce_scatter algbw to match the
// documentation").
bool is_old_gather(const RawRun& raw, const TableEvidence& evidence) {
  if (!evidence.parts || *evidence.parts < 2) return false;
  const double n = static_cast<double>(*evidence.parts);
  std::size_t fit = 0;
  std::size_t telling = 0;
  for (const ParsedRow& parsed : raw.rows)
    for (const PrintedTiming* timing : {&parsed.out_of_place, &parsed.in_place}) {
      if (!timing->time || !timing->algbw || timing->time->value <= 0) continue;
      if (timing->algbw->value < 40 * timing->algbw->half_unit) continue;
      ++telling;
      const double ratio =
          parsed.row.bytes.value() / timing->time->value * 1e-3 / timing->algbw->value;
      const double allowed = 0.5 * std::min(0.02, 1 / n);
      if (std::abs(ratio * (n - 1) / n - 1) < allowed) ++fit;
    }
  return telling > 0 && fit * 10 > telling * 8;
}

bool is_per_rank(CollectiveKind kind) {
  return kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter ||
         kind == CollectiveKind::all_to_all || kind == CollectiveKind::scatter ||
         kind == CollectiveKind::gather;
}

bool factor_allows(const TableEvidence& evidence, CollectiveKind kind) {
  if (!evidence.has_factor() || evidence.old_gather) return true;
  constexpr double kSlack = 2e-3;
  const Interval factor{evidence.factor_low - kSlack, evidence.factor_high + kSlack};
  if (kind == CollectiveKind::all_reduce) return factor.high >= 1 && factor.low < 2;
  if (is_per_rank(kind)) return factor.high >= 0.5 && factor.low < 1;
  return factor.low <= 1 && factor.high >= 1;
}

bool table_allows(const TableEvidence& evidence, CollectiveKind kind) {
  if (evidence.parts && is_per_rank(kind) != (*evidence.parts >= 2)) return false;
  const bool reduces = kind == CollectiveKind::all_reduce || kind == CollectiveKind::reduce ||
                       kind == CollectiveKind::reduce_scatter;
  if (evidence.redop_column && kind != CollectiveKind::send_recv && reduces != evidence.any_redop)
    return false;
  const bool rooted = kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce ||
                      kind == CollectiveKind::scatter || kind == CollectiveKind::gather;
  if (evidence.rooted && !rooted) return false;
  return factor_allows(evidence, kind);
}

struct Inferred {
  std::optional<CollectiveKind> kind;
  bool certain = false;
};

Inferred infer(const TableEvidence& evidence) {
  if (evidence.parts && *evidence.parts >= 2) {
    if (evidence.any_redop) return {CollectiveKind::reduce_scatter, true};
    if (evidence.rooted) return {};
    if (evidence.in_place_unchecked) return {CollectiveKind::all_to_all, true};
    return {CollectiveKind::all_gather, evidence.old_gather};
  }
  if (evidence.parts && evidence.redop_column) {
    if (!evidence.any_redop)
      return evidence.rooted ? Inferred{CollectiveKind::broadcast, true} : Inferred{};
    if (evidence.rooted) return {CollectiveKind::reduce, true};
    if (!evidence.has_factor()) return {};
    if (evidence.factor_low > 1.01) return {CollectiveKind::all_reduce, true};
    return {evidence.in_place_unchecked ? CollectiveKind::send_recv : CollectiveKind::all_reduce,
            false};
  }
  if (evidence.parts && evidence.rooted) return {CollectiveKind::broadcast, true};
  if (evidence.has_factor() && evidence.factor_low > 1.01)
    return {CollectiveKind::all_reduce, true};
  return {};
}

std::optional<CollectiveKind> kind_in_name(std::string_view stem) {
  std::string letters;
  for (const char c : to_lower(stem.substr(0, 200)))
    if (c >= 'a' && c <= 'z') letters += c;
  // Longer names first: "reduce" is a part of others.
  for (const std::string_view name : {"reducescatter", "allreduce", "allgather", "alltoall",
                                      "sendrecv", "broadcast", "scatter", "gather", "reduce"})
    if (contains(letters, name)) return collective_named(name);
  return std::nullopt;
}

struct Source {
  std::string written;
  const char* origin;
};

// The numbers of ranks for which busbw / algbw has the factor of the evidence (all: no evidence).
constexpr Interval kAnyRanks{1, 1e9};
Interval ranks_by_factor(const TableEvidence& evidence, CollectiveKind kind) {
  if (!evidence.has_factor() || evidence.old_gather) return kAnyRanks;
  const double top = kind == CollectiveKind::all_reduce ? 2 : is_per_rank(kind) ? 1 : 0;
  if (top == 0) return kAnyRanks;
  // factor = top (n-1)/n  →  n = top / (top - factor)
  const double slack = 2e-5;
  const double low = evidence.factor_low - slack;
  const double high = evidence.factor_high + slack;
  if (low >= top) return kAnyRanks;
  const double fewest = std::max(2.0, std::ceil(top / (top - std::max(low, 0.0)) - 1e-9));
  const double most = high >= top ? 1e9 : std::floor(top / (top - high) + 1e-9);
  return Interval{fewest, most};
}

// Ranks of one communicator. With NCCL_TESTS_SPLIT the list holds several groups, whose ranks are
// numbered through or each from 0.
int listed_ranks(const RunFacts& facts) {
  int last = -1;
  std::set<int> groups, ranks;
  for (const DeviceLine& device : facts.devices) {
    last = std::max(last, device.rank);
    groups.insert(device.group);
    ranks.insert(device.rank);
  }
  const bool numbered_through = ranks.size() == facts.devices.size();
  const int count = groups.empty() ? 1 : static_cast<int>(groups.size());
  return numbered_through ? (last + 1) / count : last + 1;
}

}  // namespace

int ranks_of_a_process(const RunFacts& facts) {
  const std::int64_t ranks =
      std::int64_t{facts.threads.value_or(1)} * facts.gpus_a_process.value_or(1);
  return ranks >= 1 && ranks < kMostRanks ? static_cast<int>(ranks) : 1;
}

TableEvidence table_evidence(const RawRun& raw) {
  TableEvidence evidence;
  gather_parts(raw, evidence);
  for (const ParsedRow& parsed : raw.rows) {
    const MeasuredRow& row = parsed.row;
    evidence.redop_column = evidence.redop_column || !row.redop.empty();
    evidence.any_redop = evidence.any_redop || (!row.redop.empty() && row.redop != "none");
    evidence.rooted = evidence.rooted || row.root.has_value();
    evidence.in_place_unchecked =
        evidence.in_place_unchecked ||
        (row.out_of_place.wrong && !row.in_place.wrong && row.in_place.time);
  }
  evidence.old_gather = is_old_gather(raw, evidence);
  gather_factor(raw, evidence);
  return evidence;
}

void settle_collective(RawRun& raw, const TableEvidence& evidence, std::string_view stem) {
  MeasuredRun& run = raw.run;
  if (run.collective) return;  // the format says so
  if (!run.collective_text.empty()) {
    run.notes.push_back("\"" + run.collective_text + "\" is none of the known collectives");
    return;
  }
  const Source sources[] = {{raw.facts.stated_test, "header"},
                            {raw.facts.command_test, "command line"},
                            {raw.facts.info_test, "NCCL's INFO lines"}};
  for (const Source& source : sources) {
    if (source.written.empty()) continue;
    const auto kind = collective_named(source.written);
    if (!kind) {  // hypercube_perf, alltoallv_perf: measured, but none of our kinds
      run.collective_text = source.written;
      run.notes.push_back("\"" + printable(source.written) + "\" is none of the known collectives");
      return;
    }
    if (raw.rows.empty() || table_allows(evidence, *kind)) {
      run.collective = kind;
      run.collective_text = source.written;
      return;
    }
    run.notes.push_back(std::string("the ") + source.origin + " says " + printable(source.written) +
                        ", but the table cannot be one");
  }
  const Inferred inferred = raw.rows.empty() ? Inferred{} : infer(evidence);
  const auto named = kind_in_name(stem);
  const bool name_fits = named && (raw.rows.empty() || table_allows(evidence, *named));
  if (inferred.kind && (inferred.certain || !name_fits)) {
    run.collective = inferred.kind;
    run.notes.push_back("collective " + std::string(name_of(*run.collective)) +
                        (inferred.certain ? " follows from the table (reduction, root, count, "
                                            "busbw/algbw)"
                                          : " is a guess from the table (reduction, root, count, "
                                            "busbw/algbw); others fit too"));
  } else if (name_fits) {
    run.collective = named;
    run.notes.push_back("collective " + std::string(name_of(*named)) + " taken from the file name");
  }
}

void settle_ranks(RawRun& raw, const TableEvidence& evidence, std::string_view stem) {
  MeasuredRun& run = raw.run;
  if (run.nranks) return;
  const RunFacts& facts = raw.facts;
  if (evidence.parts && *evidence.parts >= 2 && *evidence.parts < kMostRanks) {
    run.nranks = static_cast<int>(*evidence.parts);
    return;
  }
  const Interval range = run.collective ? ranks_by_factor(evidence, *run.collective) : kAnyRanks;
  const int listed = listed_ranks(facts);
  struct Candidate {
    int ranks;
    const char* origin;
  };
  std::vector<Candidate> candidates;
  if (listed > 0 && !facts.devices_open_end) candidates.push_back({listed, "device list"});
  if (facts.info_ranks) candidates.push_back({*facts.info_ranks, "NCCL's INFO lines"});
  if (range.low == range.high) candidates.push_back({static_cast<int>(range.low), "busbw/algbw"});
  const int a_process = ranks_of_a_process(facts);
  const std::int64_t launched = std::int64_t{facts.launched_ranks.value_or(0)} * a_process;
  if (launched > 0 && launched < kMostRanks)
    candidates.push_back({static_cast<int>(launched), "launch command"});
  if (a_process > 1) candidates.push_back({a_process, "nThread x nGpus of one process"});
  if (const auto shape = shape_in_name(stem)) candidates.push_back({shape->ranks, "file name"});
  if (listed > 0 && facts.devices_open_end) candidates.push_back({listed, "cut device list"});
  std::string doubts;
  for (const Candidate& candidate : candidates) {
    if (candidate.ranks < range.low ||
        (candidate.ranks > range.high && candidate.ranks != listed)) {
      doubts += std::string("the ") + candidate.origin + " says " +
                counted(candidate.ranks, "rank") + ", but busbw/algbw does not fit; ";
      continue;
    }
    run.nranks = candidate.ranks;
    // A device list may be cut short, but nobody adds to one: a larger one stands.
    if (candidate.ranks > range.high)
      run.notes.push_back("busbw/algbw is that of " +
                          counted(static_cast<int>(range.high), "rank") +
                          " at most, but the device list says " + std::to_string(candidate.ranks) +
                          ": parts of two logs?");
    else if (std::string_view(candidate.origin) != "device list" || !doubts.empty())
      run.notes.push_back(doubts + counted(candidate.ranks, "rank") + " taken from the " +
                          candidate.origin);
    return;
  }
  if (!doubts.empty()) run.notes.push_back(doubts + "number of ranks unknown");
  if (range.high < 1e7 && range.low > 1 && range.low <= range.high)
    run.notes.push_back("busbw/algbw allows " + std::to_string(static_cast<int>(range.low)) +
                        " to " + std::to_string(static_cast<int>(range.high)) + " ranks");
}

}  // namespace amsp
