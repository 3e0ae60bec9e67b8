// SPDX-License-Identifier: Apache-2.0
#include "scenarios/validation/steadiness.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "base/median.hpp"

namespace amsp {

double relative_spread(std::vector<Seconds> values) {
  if (values.size() < 3) return 0;
  std::sort(values.begin(), values.end());
  // Linear between order statistics.
  auto quantile = [&](double share) {
    const double at = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return values[below] + (values[above] - values[below]) * (at - static_cast<double>(below));
  };
  return (quantile(0.75) - quantile(0.25)) / quantile(0.5) / 2;
}

ExecTrace joined(ExecTrace a, const ExecTrace& b) {
  const int steps = static_cast<int>(a.step_times.size());
  // Times go on after the last of a, so that the records stay in order.
  Seconds end;
  for (const ExecRecord& record : a.records) end = std::max(end, record.end);
  for (ExecRecord record : b.records) {
    record.step += steps;
    record.ready += end;
    record.start += end;
    record.end += end;
    a.records.push_back(record);
  }
  a.step_times.insert(a.step_times.end(), b.step_times.begin(), b.step_times.end());
  a.step_time = median(a.step_times);
  return a;
}

LoadMeter::LoadMeter() : start_(now()) {}

LoadMeter::Ticks LoadMeter::now() {
  std::ifstream file("/proc/stat");
  std::string name;
  Ticks ticks;
  double value = 0;
  file >> name;
  for (int column = 0; column < 8 && file >> value; ++column) {
    ticks.total += value;
    if (column < 2) ticks.user += value;  // user, nice
    if (column == 7) ticks.steal = value;
  }
  for (int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    const double seconds = static_cast<double>(usage.ru_utime.tv_sec) +
                           1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
    ticks.own += seconds * static_cast<double>(sysconf(_SC_CLK_TCK));
  }
  return ticks;
}

ForeignLoad LoadMeter::read() const {
  const Ticks end = now();
  const double total = end.total - start_.total;
  if (total <= 0) return {};
  const double foreign = (end.user - start_.user) - (end.own - start_.own);
  return {std::clamp(foreign / total, 0.0, 1.0), (end.steal - start_.steal) / total};
}

}  // namespace amsp
