// SPDX-License-Identifier: Apache-2.0
#include "scenarios/plan_advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/units_text.hpp"
#include "scenarios/parallel.hpp"
#include "scenarios/plan_bounds.hpp"
#include "workloads/generator.hpp"
#include "workloads/memory.hpp"

namespace amsp {
namespace {

// Sixteen times the paper's largest job; the largest that were reported are of this order
// (Llama 3 405B: 16384 GPUs, arXiv:2407.21783).
constexpr int kMostGpus = 16384;

struct Lean {
  PlanCandidate candidate;
  Bytes peak;
};

// The candidate with the least peak of those whose bound is within `limit`. Rounds of a fixed size,
// so that threads change nothing.
std::optional<Lean> leanest(const PlanRequest& request, const Machine& machine,
                            std::optional<Bytes> limit = std::nullopt) {
  const QuickBounds bounds(request, machine);
  std::vector<Lean> all;
  for (const PlanCandidate& candidate : plan_candidates(request)) {
    if (candidate.overlap_broadcast) continue;  // takes no less memory
    const Bytes bound = bounds.memory(candidate);
    if (!limit || bound <= *limit) all.push_back({candidate, bound});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Lean& a, const Lean& b) { return a.peak < b.peak; });
  std::optional<Lean> least;
  constexpr std::size_t kRound = 16;
  for (std::size_t from = 0; from < all.size(); from += kRound) {
    if (least && all[from].peak >= least->peak) break;
    const std::size_t count = std::min(kRound, all.size() - from);
    for_each_parallel(count, request.threads, [&](std::size_t i) {
      Lean& one = all[from + i];
      one.peak = estimate_peak_memory(
                     generate_schedule(request.model, training_of(request, one.candidate),
                                       strategy_of(one.candidate), machine.data_parallel()))
                     .peak;
    });
    for (std::size_t i = from; i < from + count; ++i)
      if (!least || all[i].peak < least->peak) least = all[i];
  }
  return least;
}

// The leanest candidate, where it fits; its peak is the simulated one.
std::optional<Lean> fitting(const PlanRequest& request) {
  const Machine machine(request.cluster, request.calibration, request.gpus);
  std::optional<Lean> lean = leanest(request, machine, memory_limit(request));
  if (!lean || lean->peak > memory_limit(request)) return std::nullopt;
  const RunResult run = machine.simulate(request.model, training_of(request, lean->candidate),
                                         strategy_of(lean->candidate), {}, request.replay);
  if (!run.fits) return std::nullopt;
  lean->peak = run.memory.peak;
  return lean;
}

bool can_grow_to(const ClusterSpec& cluster, int gpus) {
  try {
    (void)resized(cluster, gpus);
    return true;
  } catch (const InputError&) {
    return false;  // one node without a fabric, or more links than are simulated
  }
}

// A request and what it changes, as options.
struct Variation {
  PlanRequest request;
  std::string options;
  void add(const std::string& option) { options += (options.empty() ? "" : " ") + option; }
};

class Advice {
 public:
  explicit Advice(const PlanRequest& request) : request_(request) {
    request_.overlap_broadcast = {false};
  }

  std::string text() const {
    const std::optional<Lean> least =
        leanest(request_, {request_.cluster, request_.calibration, request_.gpus});
    if (!least) return "";
    const Bytes limit = memory_limit(request_);
    return fmt::format(
        "the candidate that misses by least ({}) needs {}, {} more than the {} that a {} leaves; "
        "{}",
        text_of(least->candidate), human(least->peak), human(least->peak - limit), human(limit),
        request_.cluster.node.gpu.name, what_would_do());
  }

 private:
  static std::string text_of(const PlanCandidate& candidate) {
    return fmt::format("P {}, G {}, OS {}, micro-batch {}, recompute {}",
                       to_text(candidate.meshes.parameters), to_text(candidate.meshes.gradients),
                       to_text(candidate.meshes.optimizer), candidate.micro_batch,
                       name_of(candidate.recompute));
  }

  std::string what_would_do() const {
    const auto settings = first_that_fits(other_settings());
    const auto gpus = first_that_fits(more_gpus({request_, ""}));
    if (settings && gpus) return *settings + "; " + *gpus;
    if (settings) return *settings;
    if (gpus) return *gpus;
    const Variation lean = leanest_settings();
    if (const auto both = lean.options.empty() ? gpus : first_that_fits(more_gpus(lean)))
      return *both;
    const std::string none = fmt::format("no number of GPUs up to {} makes it fit", largest());
    if (const auto sequence = first_that_fits(shorter_sequences(lean)))
      return none + ", but " + *sequence;
    if (const auto all = shorter_on_more_gpus(lean))
      return none + ", nor does a shorter sequence alone, but " + *all;
    return none + ", nor does a shorter sequence";
  }

  static std::optional<std::string> first_that_fits(const std::vector<Variation>& variations) {
    for (const Variation& variation : variations)
      if (const auto lean = fitting(variation.request))
        return fmt::format("{} would fit ({}: {})", variation.options, text_of(lean->candidate),
                           human(lean->peak));
    return std::nullopt;
  }

  // The longest of the shorter sequences that fits on the most GPUs, on the fewest that it fits on.
  std::optional<std::string> shorter_on_more_gpus(const Variation& from) const {
    for (const Variation& shorter : shorter_sequences(from)) {
      const std::vector<Variation> more = more_gpus(shorter);
      if (!more.empty() && fitting(more.back().request)) return first_that_fits(more);
    }
    return std::nullopt;
  }

  bool recomputes_all() const {
    const auto& all = request_.recompute;
    return std::find(all.begin(), all.end(), Recompute::full) != all.end();
  }
  bool has_smallest_batch() const {
    const auto& all = request_.micro_batch_sizes;
    return std::find(all.begin(), all.end(), 1) != all.end();
  }

  // --recompute full, --micro-batch 1, both: where they were not asked for.
  std::vector<Variation> other_settings() const {
    std::vector<Variation> variations;
    if (!recomputes_all()) variations.push_back(with_full_recompute({request_, ""}));
    if (!has_smallest_batch()) variations.push_back(with_smallest_batch({request_, ""}));
    if (variations.size() == 2) variations.push_back(leanest_settings());
    return variations;
  }
  Variation leanest_settings() const {
    Variation variation{request_, ""};
    if (!recomputes_all()) variation = with_full_recompute(std::move(variation));
    if (!has_smallest_batch()) variation = with_smallest_batch(std::move(variation));
    return variation;
  }
  static Variation with_full_recompute(Variation variation) {
    variation.request.recompute = {Recompute::full};
    variation.add("--recompute full");
    return variation;
  }
  static Variation with_smallest_batch(Variation variation) {
    variation.request.micro_batch_sizes = {1};
    variation.add("--micro-batch 1");
    return variation;
  }

  // Ascending; a job of more than one node fills nodes.
  std::vector<Variation> more_gpus(const Variation& from) const {
    std::vector<Variation> variations;
    const int node = request_.cluster.node.gpus;
    const std::int64_t batch = request_.training.global_batch;
    const std::int64_t smallest = *std::min_element(from.request.micro_batch_sizes.begin(),
                                                    from.request.micro_batch_sizes.end());
    const auto next = [node](int n) { return n < node ? n + 1 : (n / node + 1) * node; };
    for (int gpus = next(request_.gpus); gpus <= kMostGpus; gpus = next(gpus)) {
      Variation one = from;
      one.request.gpus = gpus;
      one.add(fmt::format("--gpus {}", gpus));
      if (plan_candidates(one.request).empty()) {
        const int number = gpus < node ? gpus : gpus / node;
        const bool power = (number & (number - 1)) == 0;
        if (!power || gpus * smallest <= batch) continue;
        one.request.training.global_batch = gpus * smallest;
        one.add(fmt::format("--global-batch {}", gpus * smallest));
      }
      if (!can_grow_to(request_.cluster, gpus)) break;
      variations.push_back(std::move(one));
    }
    return variations;
  }

  int largest() const {
    const std::vector<Variation> more = more_gpus({request_, ""});
    return more.empty() ? request_.gpus : more.back().request.gpus;
  }

  static std::vector<Variation> shorter_sequences(const Variation& from) {
    std::vector<Variation> variations;
    for (std::int64_t s = from.request.training.sequence_length / 2; s >= 1; s /= 2) {
      variations.push_back(from);
      variations.back().request.training.sequence_length = s;
      variations.back().add(fmt::format("--seq-len {}", s));
    }
    return variations;
  }

  PlanRequest request_;
};

}  // namespace

std::string plan_advice(const PlanRequest& request) { return Advice(request).text(); }

}  // namespace amsp
