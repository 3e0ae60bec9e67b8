// SPDX-License-Identifier: Apache-2.0
// A sweep: a scenario at every combination of some of its values. Each point is a file of its own,
// so that a sweep can be interrupted, resumed, and split over machines that share a folder.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "scenarios/run.hpp"

namespace amsp {

// One axis: a key of the scenario and its values ("training.micro_batch", {"1", "2"}).
struct SweepAxis {
  std::string key;
  std::vector<std::string> values;
};
// "KEY=V1,V2,…"; commas inside brackets or quotes belong to a value.
SweepAxis parse_sweep_axis(std::string_view text);

struct SweepPoint {
  std::vector<std::string> settings;  // KEY=VALUE, one per axis
  int gpus = 0;
  std::filesystem::path file;  // points/NNNNN-HASH.json in the sweep's folder
};

struct Shard {
  int index = 0, count = 1;
  std::string source = {};  // the variable that it comes from; empty: the user said it, or all
};
// "I/N" with 0 <= I < N; "" takes rank and size from srun or mpirun where they are set.
Shard parse_shard(std::string_view text);

struct Sweep {
  std::string scenario;               // name or path
  std::vector<std::string> settings;  // fixed --set
  std::vector<SweepAxis> axes;
  std::filesystem::path folder;
};

// All points, the last axis and then the GPUs running fastest. The file name carries a hash of
// what determines the point, so that a changed sweep does not take old results for new ones.
std::vector<SweepPoint> sweep_points(const Sweep& sweep, const ReplayOptions& options);

// What a point runs, with its number of GPUs in `gpus` of the point.
Scenario scenario_of(const Sweep& sweep, const SweepPoint& point);

// The points of this shard that have no file yet.
std::vector<SweepPoint> points_to_run(const std::vector<SweepPoint>& points, const Shard& shard);

// Runs them; `print` makes the file's text and `done` is told after each point. A point that cannot
// run (bad combination) is written as such.
using PointText = std::function<std::string(const SweepPoint&, const RunResult*, std::string_view)>;
void run_sweep(const Sweep& sweep, const ReplayOptions& options,
               const std::vector<SweepPoint>& points, int threads, const PointText& print,
               const std::function<void()>& done);

}  // namespace amsp
