// SPDX-License-Identifier: Apache-2.0
#include "scenarios/sweep.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <optional>

#include "base/file.hpp"
#include "scenarios/parallel.hpp"

namespace amsp {
namespace {

std::vector<std::string> split_values(std::string_view text) {
  std::vector<std::string> values(1);
  int depth = 0;
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (!quoted && (c == '{' || c == '[')) ++depth;
    if (!quoted && (c == '}' || c == ']')) --depth;
    if (c == ',' && depth == 0 && !quoted)
      values.emplace_back();
    else
      values.back() += c;
  }
  return values;
}

std::optional<int> whole_number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Every combination, the last axis fastest.
std::vector<std::vector<std::string>> combinations(const std::vector<SweepAxis>& axes) {
  std::vector<std::vector<std::string>> result(1);
  for (const SweepAxis& axis : axes) {
    std::vector<std::vector<std::string>> longer;
    for (const auto& prefix : result)
      for (const std::string& value : axis.values) {
        longer.push_back(prefix);
        longer.back().push_back(axis.key + "=" + value);
      }
    result = std::move(longer);
  }
  return result;
}

std::vector<std::string> all_settings(const Sweep& sweep, const SweepPoint& point) {
  std::vector<std::string> settings = sweep.settings;
  settings.insert(settings.end(), point.settings.begin(), point.settings.end());
  return settings;
}

}  // namespace

SweepAxis parse_sweep_axis(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size())
    throw InputError({"--over", ""}, fmt::format("\"{}\" is not KEY=VALUE,VALUE,…", text));
  return {std::string(text.substr(0, equals)), split_values(text.substr(equals + 1))};
}

Shard parse_shard(std::string_view text) {
  if (!text.empty()) {
    const auto slash = text.find('/');
    const auto index = whole_number(text.substr(0, slash));
    const auto count =
        slash == std::string_view::npos ? std::nullopt : whole_number(text.substr(slash + 1));
    if (!index || !count || *index < 0 || *count < 1 || *index >= *count)
      throw InputError({"--shard", ""},
                       fmt::format("\"{}\" is not I/N with 0 <= I < N, for example 0/4", text));
    return {*index, *count};
  }
  for (const auto& [rank_name, size_name] : {std::pair{"SLURM_PROCID", "SLURM_NTASKS"},
                                             {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}}) {
    const char* rank = std::getenv(rank_name);
    const char* size = std::getenv(size_name);
    if (rank == nullptr || size == nullptr) continue;
    const auto index = whole_number(rank), count = whole_number(size);
    if (index && count && *index >= 0 && *index < *count) return {*index, *count, rank_name};
  }
  return {};
}

Scenario scenario_of(const Sweep& sweep, const SweepPoint& point) {
  return load_scenario(sweep.scenario, all_settings(sweep, point));
}

std::vector<SweepPoint> sweep_points(const Sweep& sweep, const ReplayOptions& options) {
  std::vector<SweepPoint> points;
  for (std::size_t i = 0; i < sweep.axes.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (sweep.axes[i].key == sweep.axes[j].key)
        throw InputError({"--over", sweep.axes[i].key},
                         "is given twice; write its values in one list, separated by commas");
  for (const std::vector<std::string>& settings : combinations(sweep.axes)) {
    SweepPoint point{settings, 0, {}};
    const Scenario scenario = scenario_of(sweep, point);
    const std::string manifest = manifest_of(scenario, options);
    for (const int gpus : scenario.gpus) {
      point.gpus = gpus;
      point.file = sweep.folder / "points" /
                   fmt::format("{:05}-{}.json", points.size(),
                               sha256(manifest + std::to_string(gpus)).substr(0, 16));
      points.push_back(point);
    }
  }
  return points;
}

std::vector<SweepPoint> points_to_run(const std::vector<SweepPoint>& points, const Shard& shard) {
  std::vector<SweepPoint> todo;
  for (auto i = static_cast<std::size_t>(shard.index); i < points.size();
       i += static_cast<std::size_t>(shard.count))
    if (!std::filesystem::exists(points[i].file)) todo.push_back(points[i]);
  return todo;
}

void run_sweep(const Sweep& sweep, const ReplayOptions& options,
               const std::vector<SweepPoint>& points, int threads, const PointText& print,
               const std::function<void()>& done) {
  for_each_parallel(points.size(), threads, [&](std::size_t i) {
    const SweepPoint& point = points[i];
    try {
      const Scenario scenario = scenario_of(sweep, point);
      const RunResult result = run_scenario(scenario, point.gpus, options);
      write_file(point.file, print(point, &result, ""));
    } catch (const InputError& error) {
      write_file(point.file, print(point, nullptr, error.what()));
    }
    done();
  });
}

}  // namespace amsp
