// SPDX-License-Identifier: Apache-2.0
// AMSP's optimisation problem (arXiv:2311.00257v2, section V-B) over meshes, micro-batch sizes,
// recompute and overlap settings. Candidates that do not fit in memory are dropped, those whose
// lower bound is above the K-th best simulated time are not simulated, the rest are simulated: the
// K best are the K best of exhaustive simulation (docs/model/90-planner.md).
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "scenarios/paper_objective.hpp"
#include "scenarios/run.hpp"
#include "workloads/mesh_space.hpp"

namespace amsp {

enum class PlanObjective {
  step_time,  // simulated, in steady state
  paper       // the paper's T_comm, nothing overlapped
};

struct PlanRequest {
  ModelShape model;
  ClusterSpec cluster;
  std::string calibration;
  int gpus = 8;
  Training training;                            // sequence length, global batch, dtype, reserve
  std::vector<std::int64_t> micro_batch_sizes;  // sequences
  std::vector<Recompute> recompute;
  std::vector<bool> overlap_broadcast{false, true};
  PlanObjective objective = PlanObjective::step_time;
  int top = 5;
  int threads = 1;
  ReplayOptions replay;
};

struct PlanCandidate {
  MeshChoice meshes;
  std::int64_t micro_batch = 1;
  Recompute recompute = Recompute::none;
  bool overlap_broadcast = false;
};

struct PlannedRun {
  PlanCandidate candidate;
  std::size_t index = 0;  // in the order of enumeration
  RunResult run;
  Seconds bound;         // lower bound of the step time
  Seconds paper_t_comm;  // the paper's objective
  PaperObjective paper;  // and its terms
  std::string reason;    // why it beats the next
  bool ties = false;     // with the next, to rounding
};

struct Plan {
  std::vector<PlannedRun> best;  // by objective, then in the order of enumeration
  // candidates = equal + too_large + pruned + simulated.
  std::int64_t candidates = 0;
  std::int64_t equal = 0;      // to another: broadcast overlap where there is no broadcast
  std::int64_t too_large = 0;  // by the memory bound
  std::int64_t pruned = 0;     // by the bound of the step time
  std::int64_t simulated = 0;
  std::int64_t simulated_too_large = 0;  // of those
  std::string nothing_fits;              // by how much, and what would fit (plan_advice.hpp)
  std::string paper_note;                // objective paper: what NIC sharing decides
};

// Called as candidates are settled, with how many were since the last call.
using PlanProgress = std::function<void(std::int64_t settled)>;

// Throws InputError when no micro-batch size divides the batch.
Plan make_plan(const PlanRequest& request, const PlanProgress& progress = {});

// The candidates in their fixed order.
std::vector<PlanCandidate> plan_candidates(const PlanRequest& request);
Strategy strategy_of(const PlanCandidate& candidate);
Training training_of(const PlanRequest& request, const PlanCandidate& candidate);
// What the reserve leaves of a GPU.
Bytes memory_limit(const PlanRequest& request);

}  // namespace amsp
