// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit_stage.hpp"

#include <algorithm>
#include <cmath>

#include "calibrate/nccl_algorithm.hpp"

namespace amsp {
namespace {

std::size_t at(Parameter p) { return static_cast<std::size_t>(p); }

// How far the logarithm of a parameter may lie from NCCL's constant (one standard deviation): a
// judgement, wide enough that the fits of public series lie within about two of it. Rates reach 0.4
// to 1 of a data sheet's, hops across take 0.5 to 10 times NCCL's figure; LL128's share is its
// format's; NCCL's factors differ between its versions by a fifth. What a log without the effect
// should leave alone (small_step, choose_wide_tree) is narrower, what NCCL has no figure for wider.
double system_width(Parameter p) {
  switch (p) {
    case Parameter::rate_inside:
    case Parameter::rate_nic:
    case Parameter::rate_nvls:
    case Parameter::rate_collnet:
      return 0.4;
    case Parameter::share_ll128:
      return 0.02;
    case Parameter::share_tree:
      return 0.25;
    case Parameter::choose_ll:
    case Parameter::choose_ll128:
    case Parameter::choose_tree:
    case Parameter::choose_nvls:
      return 0.2;
    case Parameter::across_ll:
    case Parameter::across_ll128:
    case Parameter::across_simple:
    case Parameter::tree_growth:
    case Parameter::ceiling_ll:
    case Parameter::ceiling_ll128:
    case Parameter::across_growth:
    case Parameter::step_bytes:
      return 1.0;
    case Parameter::overlap:
      return 0.5;
    case Parameter::tree_loss:
      return 0.8;
    case Parameter::choose_wide_tree:
      return 0.15;
    case Parameter::small_step:
      return 0.6;
    case Parameter::small_stretch:
      return 0.4;
    case Parameter::gap_simple:
    case Parameter::ll_step:
      return 1.5;
    default:
      return 0.6;
  }
}

// … and how far one kind's from the system's.
double kind_width(Parameter p) {
  switch (p) {
    case Parameter::rate_inside:
    case Parameter::rate_nic:
    case Parameter::rate_nvls:
    case Parameter::rate_collnet:
      return 0.2;
    case Parameter::share_ll128:
      return 0.01;
    default:
      return 0.7 * system_width(p);
  }
}

// A row that was made with what only logs tell of, or only a later NCCL has, whatever the other
// rows say of the cluster.
ChoiceTable table_of(const Observation& row, Hardware hardware) {
  if (is_stated(row)) hardware.collnet = CollnetUse::always;
  if (row.forced_algorithm) {
    hardware.nccl = std::max(hardware.nccl, (*row.forced_algorithm)->since());
  }
  return choice_table(row.kind, row.bytes, row.shape, hardware);
}

// Without the candidates that the run was not allowed to take.
ChoiceTable restricted(ChoiceTable table, const Observation& row) {
  ChoiceTable left;
  for (std::size_t i = 0; i < table.candidates.size(); ++i) {
    const Candidate& c = table.candidates[i];
    if (row.forced_algorithm && c.algorithm != *row.forced_algorithm) continue;
    if (row.forced_protocol && c.protocol != *row.forced_protocol) continue;
    left.views.push_back(table.views[i]);
    left.candidates.push_back(c);
  }
  return left.candidates.empty() ? table : left;
}

// Shifts of the logarithms of parameters, from which a fit starts.
struct Start {
  double choose_tree = 0, choose_ll128 = 0;
  double across = 0;                         // step times between nodes
  double ceiling = 0;                        // of LL128 between nodes
  double gap = 0;                            // between Simple messages
  double small_step = 0, small_stretch = 0;  // of small ones
  double ll_step = 0;                        // from where LL has no ceiling
};
// From the prior …
constexpr Start starts[] = {{},
                            {.choose_tree = -0.15, .choose_ll128 = -0.15},
                            {.choose_tree = 0.15, .choose_ll128 = 0.15},
                            {.choose_ll128 = 0.2},
                            {.across = -0.7},
                            {.across = 1.0},
                            {.ceiling = -1.9},
                            {.choose_tree = 0.5}};
// … and then, one after the other, from the best so far.
constexpr Start moves[] = {
    {.gap = 3.2},
    {.ceiling = -1.9, .gap = 3.2},
    {.choose_ll128 = 0.2, .gap = 3.2},
    {.ceiling = -1.9},
    {.choose_tree = 0.2},
    {.choose_tree = -0.2},
    {.ll_step = -4.2},
    {.gap = 3.2, .small_step = 1, .small_stretch = 0.8},
    {.small_step = 1, .small_stretch = 0.8},
    {.gap = 3.2, .ll_step = -4.2},
    {.choose_tree = 0.25, .gap = 3.2, .small_step = 1, .small_stretch = 0.8}};

void shift(std::vector<double>& p, const Start& start) {
  p[at(Parameter::choose_tree)] += start.choose_tree;
  p[at(Parameter::choose_wide_tree)] += start.choose_tree;
  p[at(Parameter::choose_ll128)] += start.choose_ll128;
  for (const Parameter across :
       {Parameter::across_ll, Parameter::across_ll128, Parameter::across_simple}) {
    p[at(across)] += start.across;
  }
  p[at(Parameter::ceiling_ll128)] += start.ceiling;
  p[at(Parameter::gap_simple)] += start.gap;
  p[at(Parameter::small_step)] += start.small_step;
  p[at(Parameter::small_stretch)] += start.small_stretch;
  p[at(Parameter::ll_step)] += start.ll_step;
}

// A choice is all but a step, which no gradient finds: its factors are tried one at a time, within
// a factor of 1.8 of the prior.
std::vector<double> scanned(LeastSquaresProblem problem, const LeastSquaresSolution& from) {
  std::vector<double> best = from.parameters;
  problem.start = best;
  double least = cost_of_start(problem);
  for (const Parameter factor :
       {Parameter::choose_tree, Parameter::choose_wide_tree, Parameter::choose_ll,
        Parameter::choose_ll128, Parameter::choose_nvls}) {
    if (problem.width[at(factor)] <= 0) continue;
    for (int step = -30; step <= 30; ++step) {
      problem.start = best;
      problem.start[at(factor)] = problem.prior[at(factor)] + 0.02 * step;
      const double cost = cost_of_start(problem);
      if (!(cost < least)) continue;
      least = cost;
      best = problem.start;
    }
  }
  return best;
}

LeastSquaresSolution best_of_starts(LeastSquaresProblem& problem) {
  LeastSquaresSolution best;
  best.cost = HUGE_VAL;
  problem.iterations = 25;
  const auto attempt = [&](const std::vector<double>& from, const Start& start) {
    problem.start = from;
    shift(problem.start, start);
    LeastSquaresSolution solution = solve(problem);
    if (solution.cost < best.cost) best = std::move(solution);
  };
  for (const Start& start : starts) attempt(problem.prior, start);
  for (int pass = 0; pass < 2; ++pass) {
    for (const Start& move : moves) attempt(std::vector<double>(best.parameters), move);
  }
  for (int round = 0; round < 6; ++round) {
    problem.iterations = 10;
    problem.start = scanned(problem, best);
    LeastSquaresSolution solution = solve(problem);
    if (!(solution.cost < best.cost - 1e-3)) break;
    best = std::move(solution);
  }
  problem.iterations = 60;
  problem.start = best.parameters;
  LeastSquaresSolution finished = solve(problem);
  return finished.cost <= best.cost ? finished : best;
}

}  // namespace

bool is_stated(const Observation& row) {
  return row.forced_algorithm && (*row.forced_algorithm)->only_where_stated();
}

FitStage system_stage(const PhysicsParameters& defaults) {
  FitStage stage;
  for (std::size_t j = 0; j < parameter_count; ++j) {
    stage.prior[j] = std::log(defaults.values[j]);
    stage.width[j] = system_width(static_cast<Parameter>(j));
  }
  return stage;
}

FitStage kind_stage(const PhysicsParameters& system, CollectiveKind kind) {
  FitStage stage;
  for (std::size_t j = 0; j < parameter_count; ++j) {
    const auto p = static_cast<Parameter>(j);
    stage.prior[j] = std::log(system.values[j]);
    stage.width[j] = kind_width(p);
    if (is_pairwise(kind)) stage.width[j] = system_width(p);
  }
  return stage;
}

LeastSquaresSolution fit_stage(const std::vector<Observation>& rows, const FitStage& stage,
                               const Hardware& hardware, std::span<const double> from) {
  LeastSquaresProblem problem;
  problem.prior.assign(stage.prior.begin(), stage.prior.end());
  problem.width.assign(stage.width.begin(), stage.width.end());
  if (hardware.collnet == CollnetUse::never && std::none_of(rows.begin(), rows.end(), is_stated)) {
    for (std::size_t j = parameters_without_collnet; j < parameter_count; ++j) problem.width[j] = 0;
  }
  problem.rows = rows.size();
  std::vector<ChoiceTable> tables;
  for (const Observation& row : rows) {
    tables.push_back(restricted(table_of(row, hardware), row));
  }
  problem.residuals = [&](std::span<const double> p, std::span<double> r) {
    PhysicsParameters parameters;
    for (std::size_t j = 0; j < parameter_count; ++j) parameters.values[j] = std::exp(p[j]);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Observation& row = rows[i];
      const PhysicsTime time =
          physics_time(tables[i], row.kind, row.bytes, row.shape, hardware, parameters);
      r[i] = size_weight(row.bytes) * std::log(row.time / time.total());
    }
  };
  if (from.empty()) return best_of_starts(problem);
  problem.start.assign(from.begin(), from.end());
  return solve(problem);
}

}  // namespace amsp
