// SPDX-License-Identifier: Apache-2.0
#include "calibrate/repeated_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace amsp {
namespace {

// One time of one run; equal only where everything is equal.
using Timing = std::tuple<std::string, int, int, int, std::string, std::string, double, bool,
                          std::string, std::string, double>;

std::set<Timing> timings_of(const MeasuredRun& run) {
  const std::string kind = run.collective ? std::string(name_of(*run.collective)) : "";
  std::set<Timing> timings;
  for (const MeasuredRow& row : run.rows) {
    const std::string algorithm = row.algorithm.empty() ? run.algorithm : row.algorithm;
    const std::string protocol = row.protocol.empty() ? run.protocol : row.protocol;
    for (const MeasuredTiming* half : {&row.out_of_place, &row.in_place}) {
      if (!half->time) continue;
      timings.emplace(kind, run.nranks.value_or(0), run.nnodes.value_or(0),
                      run.nics_per_node.value_or(0), algorithm, protocol, row.bytes.value(),
                      half == &row.in_place, row.dtype_text, row.redop, half->time->value());
    }
  }
  return timings;
}

std::string place_of(const MeasuredRun& run) {
  return fmt::format("{}: lines {} to {}", run.file, run.first_line, run.last_line);
}

}  // namespace

std::vector<std::string> drop_repeated(std::vector<MeasuredRun>& runs) {
  std::vector<std::set<Timing>> timings;
  std::map<Timing, std::vector<std::size_t>> runs_with;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    timings.push_back(timings_of(runs[i]));
    for (const Timing& timing : timings.back()) runs_with[timing].push_back(i);
  }
  const auto has_all = [&](std::size_t other, std::size_t i) {
    const auto& theirs = timings[other];
    const auto& mine = timings[i];
    const bool rank = theirs.size() > mine.size() || (theirs.size() == mine.size() && other < i);
    return rank && std::includes(theirs.begin(), theirs.end(), mine.begin(), mine.end());
  };
  std::vector<std::string> notes;
  std::vector<MeasuredRun> kept;
  std::vector<std::string> places;
  for (const MeasuredRun& run : runs) places.push_back(place_of(run));
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto& candidates =
        timings[i].empty() ? std::vector<std::size_t>{} : runs_with[*timings[i].begin()];
    const auto same = std::find_if(candidates.begin(), candidates.end(),
                                   [&](std::size_t other) { return has_all(other, i); });
    if (same == candidates.end())
      kept.push_back(std::move(runs[i]));
    else
      notes.push_back(
          fmt::format("{}: the same times as {}; counted once", places[i], places[*same]));
  }
  runs = std::move(kept);
  return notes;
}

}  // namespace amsp
