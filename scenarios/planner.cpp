// SPDX-License-Identifier: Apache-2.0
#include "scenarios/planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <queue>

#include "base/units_text.hpp"
#include "scenarios/fit_advice.hpp"
#include "scenarios/lower_bound.hpp"
#include "scenarios/paper_objective.hpp"
#include "scenarios/parallel.hpp"
#include "scenarios/plan_advice.hpp"
#include "scenarios/plan_bounds.hpp"
#include "scenarios/plan_reason.hpp"
#include "sim/partition.hpp"
#include "sim/problem_builder.hpp"
#include "workloads/generator.hpp"

namespace amsp {
namespace {

// A candidate on its way. `key` is at most what it will reach: a bound of the step time that grows
// with each stage, or the paper's objective itself.
struct Prospect {
  std::size_t index = 0;
  enum class Stage { quick, scheduled, folded } stage = Stage::quick;  // what the bound knows
  Seconds key, bound, paper_t_comm;
  Bytes memory_bound;
};

bool before(const PlanRequest& request, const PlannedRun& a, const PlannedRun& b) {
  if (request.objective == PlanObjective::paper && a.paper_t_comm != b.paper_t_comm)
    return a.paper_t_comm < b.paper_t_comm;
  return a.run.step_time < b.run.step_time;
}

// With one owner there is nothing to broadcast, so that overlapping it changes nothing.
bool same_schedule_without_overlap(const PlanCandidate& candidate) {
  return candidate.overlap_broadcast && candidate.meshes.optimizer == candidate.meshes.parameters;
}

// Best first: takes the candidates with the least keys, makes their schedules or simulates them,
// until the least key is above the K-th best result.
class Search {
 public:
  Search(const PlanRequest& request, const Machine& machine, const PlanProgress& progress)
      : request_(request),
        machine_(machine),
        progress_(progress),
        quick_(request, machine),
        candidates_(plan_candidates(request)) {}

  Plan run() {
    plan_.candidates = static_cast<std::int64_t>(candidates_.size());
    enqueue();
    // Rounds of a fixed size, so that the outcome does not depend on the number of threads.
    constexpr std::size_t kRound = 16;
    while (!queue_.empty() && !done()) {
      std::vector<Prospect> round;
      while (round.size() < kRound && !queue_.empty() && !done()) {
        round.push_back(queue_.top());
        queue_.pop();
      }
      advance(round);
    }
    plan_.pruned = static_cast<std::int64_t>(queue_.size());
    report(plan_.pruned);
    if (plan_.best.empty()) plan_.nothing_fits = plan_advice(request_);
    if (request_.objective == PlanObjective::paper) plan_.paper_note = without_sharing();
    // What is printed of the best is what `amsp simulate` says.
    for_each_parallel(plan_.best.size(), request_.threads, [&](std::size_t i) {
      plan_.best[i].run = simulate(plan_.best[i].candidate, request_.replay);
    });
    for (std::size_t i = 0; i + 1 < plan_.best.size(); ++i) {
      plan_.best[i].reason = why_better(request_.objective, plan_.best[i], plan_.best[i + 1]);
      plan_.best[i].ties = ties(request_.objective, plan_.best[i], plan_.best[i + 1]);
    }
    return std::move(plan_);
  }

 private:
  struct Later {
    bool operator()(const Prospect& a, const Prospect& b) const {
      return a.key != b.key ? a.key > b.key : a.index > b.index;
    }
  };

  void report(std::int64_t settled) const {
    if (progress_ && settled > 0) progress_(settled);
  }

  void enqueue() {
    std::int64_t settled = 0;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const PlanCandidate& candidate = candidates_[i];
      if (same_schedule_without_overlap(candidate)) {
        ++plan_.equal;
        ++settled;
        continue;
      }
      Prospect one{i, {}, {}, quick_.time(candidate), {}, quick_.memory(candidate)};
      if (refuse_too_large(one)) {
        ++settled;
        continue;
      }
      one.paper_t_comm = t_comm(candidate, true).total();
      one.key = request_.objective == PlanObjective::paper ? one.paper_t_comm : one.bound;
      queue_.push(one);
    }
    report(settled);
  }

  [[nodiscard]] PaperObjective t_comm(const PlanCandidate& candidate, bool share_nics) const {
    return paper_objective(request_.model, training_of(request_, candidate), candidate.meshes,
                           machine_.data_parallel(), strategy_of(candidate).bucket,
                           machine_.cluster(), machine_.collectives(), share_nics);
  }

  bool refuse_too_large(const Prospect& one) {
    if (one.memory_bound <= limit_) return false;
    ++plan_.too_large;
    return true;
  }

  void advance(std::vector<Prospect>& round) {
    std::vector<std::optional<PlannedRun>> runs(round.size());
    for_each_parallel(round.size(), request_.threads, [&](std::size_t i) {
      if (round[i].stage == Prospect::Stage::quick)
        examine(round[i]);
      else if (round[i].stage == Prospect::Stage::scheduled && bounds_help())
        fold(round[i]);
      else
        runs[i] = simulate(round[i]);
    });
    std::int64_t settled = 0;
    for (std::size_t i = 0; i < round.size(); ++i) {
      if (runs[i]) {
        take(std::move(*runs[i]));
        ++settled;
      } else if (refuse_too_large(round[i])) {
        ++settled;
      } else {
        queue_.push(round[i]);
      }
    }
    report(settled);
  }

  void examine(Prospect& one) const {
    const PlanCandidate& candidate = candidates_[one.index];
    const Schedule schedule = generate_schedule(request_.model, training_of(request_, candidate),
                                                strategy_of(candidate), machine_.data_parallel());
    one.stage = Prospect::Stage::scheduled;
    one.memory_bound = std::max(one.memory_bound, memory_bound(schedule));
    if (one.memory_bound > limit_) return;
    if (has_period())
      one.bound = std::max(one.bound, step_time_bound(schedule, machine_.network(),
                                                      machine_.collectives(), machine_.compute()));
    if (request_.objective == PlanObjective::step_time) one.key = one.bound;
  }

  // The bound that knows which groups share NICs. It costs a tenth of a simulation or less.
  void fold(Prospect& one) const {
    const PlanCandidate& candidate = candidates_[one.index];
    const Schedule schedule = generate_schedule(request_.model, training_of(request_, candidate),
                                                strategy_of(candidate), machine_.data_parallel());
    const ReplayInput input{schedule, machine_.network(), machine_.collectives(),
                            machine_.compute()};
    const Unfolded unfolded = unfold(input);
    const Problem problem = build_problem(input, unfolded, coarsest_partition(unfolded));
    one.stage = Prospect::Stage::folded;
    one.key = one.bound = std::max(one.bound, step_time_bound(schedule, problem));
  }

  // A replay of one step starts from an idle cluster and has no period to bound.
  [[nodiscard]] bool has_period() const { return request_.replay.steps > 1; }
  [[nodiscard]] bool bounds_help() const {
    return has_period() && request_.objective == PlanObjective::step_time;
  }

  // No prospect can enter the best any more: keys bound what they will reach (up to rounding).
  [[nodiscard]] bool done() const {
    constexpr double kRounding = 1e-9;
    if (plan_.best.size() < static_cast<std::size_t>(request_.top)) return false;
    const PlannedRun& last = plan_.best.back();
    const Seconds kth =
        request_.objective == PlanObjective::paper ? last.paper_t_comm : last.run.step_time;
    return queue_.top().key * (1 - kRounding) > kth;
  }

  [[nodiscard]] RunResult simulate(const PlanCandidate& candidate,
                                   const ReplayOptions& options) const {
    return machine_.simulate(request_.model, training_of(request_, candidate),
                             strategy_of(candidate), {}, options);
  }

  [[nodiscard]] PlannedRun simulate(const Prospect& prospect) const {
    const PlanCandidate& candidate = candidates_[prospect.index];
    ReplayOptions options = request_.replay;
    options.fold_steps = options.fold_repeats;
    return {candidate,
            prospect.index,
            simulate(candidate, options),
            prospect.bound,
            prospect.paper_t_comm,
            t_comm(candidate, true),
            "",
            false};
  }

  void take(PlannedRun run) {
    ++plan_.simulated;
    if (!run.run.fits) {
      ++plan_.simulated_too_large;
      return;
    }
    const auto place = std::upper_bound(plan_.best.begin(), plan_.best.end(), run,
                                        [&](const PlannedRun& a, const PlannedRun& b) {
                                          if (before(request_, a, b)) return true;
                                          return !before(request_, b, a) && a.index < b.index;
                                        });
    plan_.best.insert(place, std::move(run));
    if (plan_.best.size() > static_cast<std::size_t>(request_.top)) plan_.best.pop_back();
  }

  // What the objective would choose if every mesh had been profiled alone.
  [[nodiscard]] std::string without_sharing() const {
    std::vector<Prospect> all;
    for (std::size_t i = 0; i < candidates_.size(); ++i)
      if (quick_.memory(candidates_[i]) <= limit_)
        all.push_back({i, {}, t_comm(candidates_[i], false).total(), {}, {}, {}});
    std::stable_sort(all.begin(), all.end(),
                     [](const Prospect& a, const Prospect& b) { return a.key < b.key; });
    for (Prospect& one : all) {
      const Seconds alone = one.key;
      examine(one);
      if (one.memory_bound > limit_ || !simulate(one).run.fits) continue;
      const PlanCandidate& found = candidates_[one.index];
      return fmt::format(
          "T_comm counts the NICs of a node as shared by all groups of a family (as they are when "
          "the job runs). With every mesh profiled alone the least T_comm that fits would be {}: "
          "P {}, G {}, OS {}, micro-batch {}, recompute {}",
          human(alone), to_text(found.meshes.parameters), to_text(found.meshes.gradients),
          to_text(found.meshes.optimizer), found.micro_batch, name_of(found.recompute));
    }
    return "";
  }

  const PlanRequest& request_;
  const Machine& machine_;
  const PlanProgress& progress_;
  const Bytes limit_ = memory_limit(request_);
  QuickBounds quick_;
  std::vector<PlanCandidate> candidates_;
  std::priority_queue<Prospect, std::vector<Prospect>, Later> queue_;
  Plan plan_;
};

template <class T>
std::vector<T> without_repeats(const std::vector<T>& all) {
  std::vector<T> once;
  for (const T one : all)
    if (std::find(once.begin(), once.end(), one) == once.end()) once.push_back(one);
  return once;
}

std::int64_t smallest_micro_batch(const PlanRequest& request) {
  return *std::min_element(request.micro_batch_sizes.begin(), request.micro_batch_sizes.end());
}

}  // namespace

std::vector<PlanCandidate> plan_candidates(const PlanRequest& request) {
  std::vector<PlanCandidate> candidates;
  const Mesh data_parallel = data_parallel_mesh(request.cluster, request.gpus);
  for (const MeshChoice& meshes : mesh_choices(data_parallel))
    for (const std::int64_t micro_batch : without_repeats(request.micro_batch_sizes)) {
      if (request.training.global_batch % (micro_batch * request.gpus) != 0) continue;
      for (const Recompute recompute : without_repeats(request.recompute))
        for (const bool overlap : request.overlap_broadcast)
          candidates.push_back({meshes, micro_batch, recompute, overlap});
    }
  return candidates;
}

Strategy strategy_of(const PlanCandidate& candidate) {
  Strategy strategy;
  strategy.name = "amsp";
  strategy.parameters = candidate.meshes.parameters;
  strategy.gradients = candidate.meshes.gradients;
  strategy.optimizer = candidate.meshes.optimizer;
  strategy.inter_tensor_ownership = true;
  strategy.overlap_broadcast = candidate.overlap_broadcast;
  return strategy;
}

Training training_of(const PlanRequest& request, const PlanCandidate& candidate) {
  Training training = request.training;
  training.micro_batch = candidate.micro_batch;
  training.recompute = candidate.recompute;
  return training;
}

Bytes memory_limit(const PlanRequest& request) {
  return request.cluster.node.gpu.memory - request.training.memory_reserve;
}

Plan make_plan(const PlanRequest& request, const PlanProgress& progress) {
  check_reserve(request.training.memory_reserve, request.cluster.node.gpu, "--memory-reserve");
  if (plan_candidates(request).empty())
    throw InputError(fmt::format(
        "a global batch of {} sequences is not a multiple of GPUs ({}) x any micro-batch size; "
        "such as {} would be, with a micro-batch of {}",
        request.training.global_batch, request.gpus,
        nearest_multiples(request.training.global_batch,
                          smallest_micro_batch(request) * request.gpus),
        smallest_micro_batch(request)));
  const Machine machine(request.cluster, request.calibration, request.gpus);
  return Search(request, machine, progress).run();
}

}  // namespace amsp
