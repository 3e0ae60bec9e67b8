// SPDX-License-Identifier: Apache-2.0
#include "sim/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/progress.hpp"
#include "sim/analysis.hpp"
#include "sim/engine.hpp"
#include "sim/link_use.hpp"
#include "sim/partition.hpp"
#include "sim/problem_builder.hpp"
#include "sim/replayer.hpp"
#include "sim/simgrid_run.hpp"

namespace amsp {
namespace {

void check_options(const ReplayInput& input, const ReplayOptions& options) {
  if (options.steps < 1) throw InputError("a replay needs at least one step");
  if (options.messages && options.engine != EngineKind::simgrid)
    throw InputError("messages are replayed by the engine simgrid only");
  if (input.perturbations.kernel_jitter < 0 || input.perturbations.link_jitter < 0)
    throw InputError("a jitter is a standard deviation: 0 or above");
}

bool jittered(const ReplayInput& input) {
  return input.perturbations.kernel_jitter > 0 || input.perturbations.link_jitter > 0;
}

// When each step ended: the last end of an op on a compute stream (of any op, where no op of the
// schedule is on one). In steady state any fixed op gives the same period.
std::vector<Seconds> step_ends(const Schedule& schedule, const ReplayResult& result, int steps) {
  const auto computes = [&](const OpRecord& record) {
    return schedule.streams[schedule.op(record.op).stream.position()].compute;
  };
  const bool any = std::any_of(result.records.begin(), result.records.end(), computes);
  std::vector<Seconds> ends(static_cast<std::size_t>(steps));
  for (const OpRecord& record : result.records) {
    if (any && !computes(record)) continue;
    Seconds& end = ends[static_cast<std::size_t>(record.step)];
    end = std::max(end, record.end);
  }
  return ends;
}

void set_period(const Schedule& schedule, int steps, ReplayResult& result) {
  if (steps == 1) {  // no period: the whole run
    for (const OpRecord& record : result.records)
      result.step_time = std::max(result.step_time, record.end);
    return;
  }
  const std::vector<Seconds> ends = step_ends(schedule, result, steps);
  result.period_start = ends[ends.size() - 2];
  result.step_time = ends.back() - result.period_start;
}

// Errors of estimates of one sort are taken as fully correlated, those of different sorts as
// independent; each counts by the time of the step that it makes up on the slowest rank.
double uncertainty(const Schedule& schedule, const Problem& problem, const ReplayResult& result) {
  if (result.step_time <= Seconds{}) return 0;
  const ExposedCommunication exposed = exposed_communication(schedule, result);
  const Seconds computing = result.step_time - exposed.total;
  double squares = std::pow(problem.compute_uncertainty * computing.value(), 2);
  for (const auto& [kind, share] : problem.collective_uncertainty) {
    const auto time = exposed.by_collective.find(std::string(name_of(kind)));
    if (time != exposed.by_collective.end()) squares += std::pow(share * time->second.value(), 2);
  }
  return std::sqrt(squares) / result.step_time.value();
}

// A job beside the main one that takes no time would repeat for ever.
void refuse_timeless_jobs(const Problem& problem) {
  for (std::size_t j = 1; j < problem.jobs.size(); ++j) {
    const std::vector<Seconds>& times = problem.jobs[j].kernel_time;
    bool takes_time =
        std::any_of(times.begin(), times.end(), [](Seconds time) { return time > Seconds{}; });
    for (const FoldedGroup& group : problem.groups)
      for (const int cost : group.cost_of)
        takes_time = takes_time || (group.job == static_cast<int>(j) && cost >= 0 &&
                                    !problem.costs[static_cast<std::size_t>(cost)].instant);
    if (!takes_time)
      throw InputError(
          fmt::format("the second job \"{}\" takes no time, so that it has no steps to "
                      "repeat beside the first",
                      problem.jobs[j].schedule->name));
  }
}

ReplayResult run_fluid(const ReplayInput& input, const Problem& problem,
                       const ReplayOptions& options) {
  const std::unique_ptr<Engine> engine = make_fluid_engine(problem);
  Replayer replayer(problem, input.perturbations, *engine, options);
  replayer.run();
  ReplayResult result;
  result.records = replayer.take_records();
  result.skipped = replayer.skipped();
  result.others = replayer.others();
  result.events = engine->events();
  if (!options.fold_steps) return result;
  const auto ends = replayer.common_ends();
  if (!ends || ends->empty()) {
    ReplayOptions all = options;
    all.fold_steps = false;
    return run_fluid(input, problem, all);
  }
  if (const auto& steady = replayer.steady_step()) {
    result.period_start = steady->start;
    result.step_time = steady->period;
  } else {
    result.period_start = (*ends)[ends->size() - 2];
    result.step_time = ends->back() - result.period_start;
  }
  return result;
}

}  // namespace

ReplayResult replay(const ReplayInput& input, const ReplayOptions& asked) {
  check_options(input, asked);
  ReplayOptions options = asked;
  // Noise leaves nothing to fold; jobs with steps of their own have no common period.
  if (jittered(input)) options.folded = options.fold_repeats = false;
  if (!input.background.empty()) options.fold_repeats = false;
  if (jittered(input) || !input.background.empty() || options.steps < 2) options.fold_steps = false;
  if (options.engine == EngineKind::simgrid) options.folded = false;

  progress_phase("routes");
  const Unfolded unfolded = unfold(input);
  progress_phase("classes");
  const Partition partition =
      options.folded ? coarsest_partition(unfolded) : trivial_partition(unfolded);
  const Problem problem = build_problem(input, unfolded, partition);
  refuse_timeless_jobs(problem);
  progress_phase("replay");
  ReplayResult result = options.engine == EngineKind::fluid
                            ? run_fluid(input, problem, options)
                            : run_simgrid(input, unfolded, problem, options);
  if (!(result.step_time > Seconds{})) set_period(input.schedule, options.steps, result);
  for (const FoldedRank& rank : problem.ranks)
    if (rank.job == 0) result.rank_classes.push_back({rank.representative, rank.members});
  result.class_of_rank.assign(partition.rank_class.begin(),
                              partition.rank_class.begin() + input.schedule.world);
  result.links = link_use(problem, result);
  if (options.implied_links) add_implied_links(unfolded, partition, problem, result);
  result.link_classes = partition.link_classes;
  result.compute_range = problem.compute_range;
  result.collective_range = problem.collective_range;
  result.relative_uncertainty = uncertainty(input.schedule, problem, result);
  result.repeats_folded = !result.skipped.empty();
  return result;
}

}  // namespace amsp
