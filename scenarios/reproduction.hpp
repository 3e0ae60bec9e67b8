// SPDX-License-Identifier: Apache-2.0
// The paper's results beside this program's predictions (arXiv:2311.00257v2: Fig. 11 and 12, Table
// V, end points in the text). At most one factor is fitted to them, from one point.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "scenarios/efficiency_fit.hpp"
#include "scenarios/reference.hpp"
#include "scenarios/run.hpp"

namespace amsp {

// One predicted point, and what was published for it (if anything).
struct ReproducedPoint {
  std::string source;  // "Fig. 12", "Table V", "text" …; "prediction" where nothing is published
  std::string system, model;
  int gpus = 0;
  std::int64_t micro_batches = 0;
  std::string overlap;  // Table V only
  double tgs = 0, mfu = 0;
  std::optional<double> published_tgs, published_mfu;
  bool fits = true;
  bool fitted = false;  // the point that gave the compute efficiency: compared with nothing
  std::size_t run = 0;  // position in Reproduction::runs
};

// A stated band for a group of points, and what was reached.
struct ReproducedBand {
  std::string name;     // "AMSP, Fig. 12, TGS"
  std::string measure;  // "mean absolute relative error", "largest difference in MFU"
  double limit = 0, reached = 0;
  int points = 0;
  [[nodiscard]] bool holds() const { return points > 0 && reached <= limit; }
};

struct Reproduction {
  std::vector<ReproducedPoint> points;
  std::vector<RunResult> runs;
  std::vector<ReproducedBand> bands;
  std::optional<EfficiencyFit> fit;
};

// Every shipped scenario that names a reference, at each of its scales, and the overlap ablation
// of Table V at 64 GPUs. Runs on `threads` threads. With `fit`, all have the compute efficiency
// with which AMSP of LLaMA-13B on 8 GPUs has its published throughput.
Reproduction reproduce(const ReplayOptions& options, int threads, bool fit);

}  // namespace amsp
