// SPDX-License-Identifier: Apache-2.0
#include "scenarios/planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "base/units_text.hpp"
#include "scenarios/lower_bound.hpp"
#include "scenarios/paper_objective.hpp"
#include "scenarios/parallel.hpp"
#include "scenarios/plan_reason.hpp"
#include "workloads/generator.hpp"

namespace amsp {
namespace {

// A candidate before it is simulated. `score` orders the search: a bound of the step time, or the
// paper's objective itself.
struct Prospect {
  std::size_t index = 0;
  Seconds bound, paper_t_comm, score;
  Bytes memory_bound;
};

bool before(const PlanRequest& request, const PlannedRun& a, const PlannedRun& b) {
  if (request.objective == PlanObjective::paper && a.paper_t_comm != b.paper_t_comm)
    return a.paper_t_comm < b.paper_t_comm;
  return a.run.step_time < b.run.step_time;
}

// Memory that every replay holds at some instant: what persists, plus what the compute streams
// have allocated by some op and not yet freed (their order is fixed). Buffers of communication
// streams come on top, so this never exceeds the simulated peak.
Bytes memory_bound(const Schedule& schedule) {
  Bytes held(0);
  for (const PersistentMemory& part : schedule.persistent) held += part.bytes;
  const auto counted = [](MemoryComponent component) {
    return component == MemoryComponent::activations || component == MemoryComponent::logits ||
           component == MemoryComponent::temporaries;
  };
  Bytes peak = held;
  for (const Block& block : schedule.blocks)
    for (const OpId id : block.ops) {
      const Op& op = schedule.op(id);
      if (!schedule.streams[op.stream.position()].compute || op.role) continue;
      for (const bool at_start : {true, false}) {
        for (const MemoryChange& change : op.memory)
          if (change.at_start == at_start && counted(change.component)) held += change.delta;
        peak = std::max(peak, held);
      }
    }
  return peak;
}

class Search {
 public:
  Search(const PlanRequest& request, const Machine& machine)
      : request_(request), machine_(machine), candidates_(plan_candidates(request)) {}

  Plan run() {
    Plan plan;
    plan.candidates = static_cast<std::int64_t>(candidates_.size());
    const std::vector<Prospect> prospects = feasible(plan);
    // Batches of a fixed size, so that the outcome does not depend on the number of threads.
    constexpr std::size_t kBatch = 16;
    for (std::size_t from = 0; from < prospects.size(); from += kBatch) {
      if (done(plan, prospects[from])) {
        plan.pruned = static_cast<std::int64_t>(prospects.size() - from);
        break;
      }
      const std::size_t to = std::min(prospects.size(), from + kBatch);
      std::vector<std::optional<PlannedRun>> runs(to - from);
      for_each_parallel(to - from, request_.threads,
                        [&](std::size_t i) { runs[i] = simulate(prospects[from + i]); });
      for (auto& run : runs) take(plan, std::move(*run));
    }
    for (std::size_t i = 0; i < plan.best.size(); ++i)
      plan.best[i].reason =
          i + 1 < plan.best.size() ? why_better(plan.best[i], plan.best[i + 1]) : "";
    return plan;
  }

 private:
  [[nodiscard]] Training training_of(const PlanCandidate& candidate) const {
    Training training = request_.training;
    training.micro_batch = candidate.micro_batch;
    training.recompute = candidate.recompute;
    return training;
  }

  [[nodiscard]] Prospect prospect(std::size_t index) const {
    const PlanCandidate& candidate = candidates_[index];
    const Training training = training_of(candidate);
    const Strategy strategy = strategy_of(candidate);
    const Schedule schedule =
        generate_schedule(request_.model, training, strategy, machine_.data_parallel());
    Prospect result{index, {}, {}, {}, memory_bound(schedule)};
    if (result.memory_bound > limit()) return result;
    result.bound =
        step_time_bound(schedule, machine_.network(), machine_.collectives(), machine_.compute());
    result.paper_t_comm =
        paper_objective(request_.model, training, candidate.meshes, machine_.data_parallel(),
                        strategy.bucket, machine_.cluster(), machine_.collectives())
            .total();
    result.score = request_.objective == PlanObjective::paper ? result.paper_t_comm : result.bound;
    return result;
  }

  [[nodiscard]] Bytes limit() const {
    return machine_.cluster().node.gpu.memory - request_.training.memory_reserve;
  }

  std::vector<Prospect> feasible(Plan& plan) const {
    std::vector<Prospect> all(candidates_.size());
    for_each_parallel(candidates_.size(), request_.threads,
                      [&](std::size_t i) { all[i] = prospect(i); });
    std::vector<Prospect> fitting;
    const Prospect* nearest = nullptr;
    for (const Prospect& one : all) {
      if (one.memory_bound <= limit())
        fitting.push_back(one);
      else if (nearest == nullptr || one.memory_bound < nearest->memory_bound)
        nearest = &one;
    }
    plan.too_large = static_cast<std::int64_t>(all.size() - fitting.size());
    if (fitting.empty() && nearest != nullptr) {
      const PlanCandidate& near = candidates_[nearest->index];
      plan.smallest_miss = fmt::format(
          "the leanest candidate (P {}, G {}, OS {}, micro-batch {}) needs at least {} of {}",
          to_text(near.meshes.parameters), to_text(near.meshes.gradients),
          to_text(near.meshes.optimizer), near.micro_batch, human(nearest->memory_bound),
          human(limit()));
    }
    std::stable_sort(fitting.begin(), fitting.end(),
                     [](const Prospect& a, const Prospect& b) { return a.score < b.score; });
    return fitting;
  }

  // No prospect from here on can enter the best: scores ascend and bound what they will reach.
  [[nodiscard]] bool done(const Plan& plan, const Prospect& next) const {
    if (plan.best.size() < static_cast<std::size_t>(request_.top)) return false;
    const PlannedRun& last = plan.best.back();
    return next.score >
           (request_.objective == PlanObjective::paper ? last.paper_t_comm : last.run.step_time);
  }

  [[nodiscard]] PlannedRun simulate(const Prospect& prospect) const {
    const PlanCandidate& candidate = candidates_[prospect.index];
    return {candidate,
            machine_.simulate(request_.model, training_of(candidate), strategy_of(candidate), {},
                              request_.replay),
            prospect.bound, prospect.paper_t_comm, ""};
  }

  void take(Plan& plan, PlannedRun run) const {
    ++plan.simulated;
    if (!run.run.fits) {
      ++plan.too_large;
      return;
    }
    const auto place = std::upper_bound(
        plan.best.begin(), plan.best.end(), run,
        [&](const PlannedRun& a, const PlannedRun& b) { return before(request_, a, b); });
    plan.best.insert(place, std::move(run));
    if (plan.best.size() > static_cast<std::size_t>(request_.top)) plan.best.pop_back();
  }

  const PlanRequest& request_;
  const Machine& machine_;
  std::vector<PlanCandidate> candidates_;
};

}  // namespace

std::vector<PlanCandidate> plan_candidates(const PlanRequest& request) {
  std::vector<PlanCandidate> candidates;
  const Mesh data_parallel = data_parallel_mesh(request.cluster, request.gpus);
  for (const MeshChoice& meshes : mesh_choices(data_parallel))
    for (const std::int64_t micro_batch : request.micro_batch_sizes) {
      if (request.training.global_batch % (micro_batch * request.gpus) != 0) continue;
      for (const Recompute recompute : request.recompute)
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

Plan make_plan(const PlanRequest& request) {
  if (plan_candidates(request).empty())
    throw InputError(fmt::format(
        "a global batch of {} sequences is not a multiple of GPUs ({}) x any micro-batch size",
        request.training.global_batch, request.gpus));
  const Machine machine(request.cluster, request.calibration, request.gpus);
  return Search(request, machine).run();
}

}  // namespace amsp
