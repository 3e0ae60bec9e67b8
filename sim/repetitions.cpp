// SPDX-License-Identifier: Apache-2.0
#include "sim/repetitions.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "base/error.hpp"

namespace amsp {
namespace {

constexpr const char* kTotal = "total";

Spread spread_of(const std::vector<Seconds>& times) {
  Spread spread;
  const auto n = static_cast<double>(times.size());
  for (const Seconds time : times) spread.mean += time / n;
  if (times.size() < 2) return spread;
  double squares = 0;
  for (const Seconds time : times) squares += std::pow((time - spread.mean).value(), 2);
  spread.deviation = Seconds(std::sqrt(squares / (n - 1)));
  spread.half_width =
      spread.deviation * (student_quantile(static_cast<int>(times.size()) - 1) / std::sqrt(n));
  return spread;
}

}  // namespace

double student_quantile(int degrees_of_freedom) {
  return boost::math::quantile(boost::math::students_t(degrees_of_freedom), 0.95);
}

ExposedCommunication RepeatedReplay::mean_exposed() const {
  ExposedCommunication mean;
  for (const auto& [kind, spread] : exposed) {
    if (kind == kTotal)
      mean.total = spread.mean;
    else
      mean.by_collective[kind] = spread.mean;
  }
  return mean;
}

RepeatedReplay replay_repeatedly(const Schedule& schedule, int repetitions,
                                 const std::function<ReplayResult(int)>& replay_one) {
  if (repetitions < 1) throw InputError("a replay needs at least one repetition");
  RepeatedReplay all;
  all.repetitions = repetitions;
  std::map<std::string, std::vector<Seconds>> exposed;
  const auto column = [&](const std::string& name) -> std::vector<Seconds>& {
    auto& times = exposed[name];
    times.resize(static_cast<std::size_t>(repetitions));  // a kind that is missing counts as zero
    return times;
  };
  for (int i = 0; i < repetitions; ++i) {
    ReplayResult result = replay_one(i);
    all.step_times.push_back(result.step_time);
    const ExposedCommunication one = exposed_communication(schedule, result);
    const auto row = static_cast<std::size_t>(i);
    column(kTotal)[row] = one.total;
    for (const auto& [kind, time] : one.by_collective) column(kind)[row] = time;
    MemoryTimeline memory = memory_timeline(schedule, result);
    if (i == 0 || memory.peak > all.memory.peak) all.memory = std::move(memory);
    if (i == 0) all.first = std::move(result);
  }
  all.step_time = spread_of(all.step_times);
  for (const auto& [name, times] : exposed) all.exposed[name] = spread_of(times);
  return all;
}

}  // namespace amsp
