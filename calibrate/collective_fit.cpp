// SPDX-License-Identifier: Apache-2.0
// The fit: first one set of parameters for all kinds together, with NCCL's constants as the prior;
// then each kind's own parameters with that set as the prior; then the correction.
#include <algorithm>
#include <cmath>
#include <map>

#include "calibrate/collective_calibration.hpp"
#include "calibrate/correction_fit.hpp"
#include "calibrate/fit_intervals.hpp"
#include "calibrate/fit_stage.hpp"
#include "calibrate/nccl_algorithm.hpp"

namespace amsp {
namespace {

void take(const LeastSquaresSolution& solution, KindFit& fit) {
  for (std::size_t j = 0; j < parameter_count; ++j) {
    fit.parameters.values[j] = std::exp(solution.parameters[j]);
    for (std::size_t k = 0; k < parameter_count; ++k) {
      fit.covariance[j][k] = solution.covariance[j][k];
    }
  }
  fit.trust = solution.weights;
  fit.spread = solution.scale;
}

// Several times of one size in one file (out of place, in place, repeated runs) become one row:
// their geometric mean, or the least where they differ by more than a quarter.
std::vector<Observation> merged(const std::vector<Observation>& rows) {
  using Key = std::tuple<int, GroupShape, double, std::string, std::optional<Algorithm>,
                         std::optional<Protocol>>;
  std::map<Key, std::vector<Observation>> groups;
  for (const Observation& row : rows) {
    groups[{static_cast<int>(row.kind), row.shape, row.bytes.value(), row.source,
            row.forced_algorithm, row.forced_protocol}]
        .push_back(row);
  }
  std::vector<Observation> all;
  for (auto& [key, group] : groups) {
    double least = HUGE_VAL, most = 0, sum = 0;
    for (const Observation& row : group) {
      least = std::min(least, row.time.value());
      most = std::max(most, row.time.value());
      sum += std::log(row.time.value());
    }
    Observation row = group.front();
    row.time =
        Seconds(most > 1.25 * least ? least : std::exp(sum / static_cast<double>(group.size())));
    all.push_back(std::move(row));
  }
  return all;
}

// The correction follows NCCL's own choices only; forced runs have served the parameters.
void keep_free(std::vector<Observation>& rows, KindFit& fit) {
  const bool any_free = std::any_of(rows.begin(), rows.end(), [](const Observation& row) {
    return !row.forced_algorithm && !row.forced_protocol;
  });
  std::vector<double> trust;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (any_free && (rows[i].forced_algorithm || rows[i].forced_protocol)) continue;
    trust.push_back(fit.trust[i]);
    fit.rows.push_back(std::move(rows[i]));
  }
  fit.trust = std::move(trust);
}

// Whether the logs say that NCCL reduces in the network. Where every all_reduce across nodes does,
// that is what this machine takes; where the tuner's lines tell each size's choice, the tuner
// decides; beside runs that say nothing, it was an experiment.
CollnetUse stated_collnet(const std::vector<Observation>& rows) {
  int all = 0, stated = 0, silent = 0;
  for (const Observation& row : rows) {
    if (row.kind != CollectiveKind::all_reduce || row.shape.nodes < 2) continue;
    ++all;
    stated += is_stated(row) ? 1 : 0;
    silent += row.forced_algorithm ? 0 : 1;
  }
  if (stated == 0) return CollnetUse::never;
  if (stated == all) return CollnetUse::always;
  return silent == 0 ? CollnetUse::by_tuner : CollnetUse::never;
}

// The oldest NCCL of the rows, so that nothing is predicted which some of them could not have; one
// that names an algorithm has it.
NcclVersion nccl_of(const std::vector<Observation>& rows) {
  NcclVersion oldest = rows.empty() ? assumed_nccl : described_nccl;
  for (const Observation& row : rows) {
    NcclVersion version = row.nccl.value_or(assumed_nccl);
    if (row.forced_algorithm) version = std::max(version, (*row.forced_algorithm)->since());
    oldest = std::min(oldest, version);
  }
  return oldest;
}

// What the machine always takes is no longer forced: the correction follows these rows.
void free_collnet(std::vector<Observation>& rows) {
  for (Observation& row : rows) {
    if (!is_stated(row)) continue;
    row.forced_algorithm.reset();
    row.forced_protocol.reset();
  }
}

// Logs do not say whether NCCL allowed LL128 between nodes: the better of both answers.
void fit_system(const std::vector<Observation>& rows, CollectiveCalibration& result) {
  LeastSquaresSolution best;
  best.cost = HUGE_VAL;
  const bool possible = result.hardware.ll128_across;
  bool chosen = possible;
  for (const bool allowed : {true, false}) {
    if (allowed && !possible) continue;
    result.hardware.ll128_across = allowed;
    LeastSquaresSolution solution = fit_stage(rows, system_stage(result.defaults), result.hardware);
    if (solution.cost >= best.cost) continue;
    best = std::move(solution);
    chosen = allowed;
  }
  result.hardware.ll128_across = chosen;
  take(best, result.system);
}

}  // namespace

double size_weight(Bytes bytes) {
  const double mebibytes = bytes.value() / 1048576.0;
  return mebibytes >= 8 ? 1.0 : mebibytes >= 1 ? 0.6 : 0.3;
}

CollectiveCalibration fit_collectives(std::vector<Observation> rows, const ClusterSpec& cluster,
                                      const FitOptions& options) {
  rows = merged(rows);
  CollectiveCalibration result;
  result.hardware = hardware_of(cluster);
  result.defaults = default_parameters(cluster);
  result.hardware.nccl = nccl_of(rows);
  result.hardware.collnet = stated_collnet(rows);
  if (result.hardware.collnet == CollnetUse::always) free_collnet(rows);
  std::vector<Observation> shared;
  for (const Observation& row : rows) {
    if (!is_pairwise(row.kind)) shared.push_back(row);
  }
  if (shared.empty()) shared = rows;
  if (options.part) options.part("what all share");
  fit_system(shared, result);
  std::map<CollectiveKind, std::vector<Observation>> by_kind;
  for (Observation& row : rows) by_kind[row.kind].push_back(std::move(row));
  for (auto& [kind, of_kind] : by_kind) {
    if (options.part) options.part(name_of(kind));
    KindFit fit;
    fit.kind = kind;
    take(fit_stage(of_kind, kind_stage(result.system.parameters, kind), result.hardware), fit);
    keep_free(of_kind, fit);
    if (fit.rows.empty()) continue;
    if (options.correct) {
      fit_correction(fit, result.hardware);
    } else {
      fit.correction = make_correction(fit, {{1, 1, 1, 1}, 0.0, fit.spread}, result.hardware);
    }
    fit_intervals(fit, result);
    result.kinds.push_back(std::move(fit));
  }
  return result;
}

}  // namespace amsp
