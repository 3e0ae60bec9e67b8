// SPDX-License-Identifier: Apache-2.0
#include "cli/perturbation_options.hpp"

namespace amsp {

void PerturbationFlags::declare(Options& options, bool repeated) {
  options.repeated("--slow-gpu", "GPU=SPEED",
                   "a GPU that computes at this share of its speed (up to 1)", slow_);
  options.repeated("--degrade", "NAME=FACTOR",
                   "a link or NIC (node3/mlx5_0) at this share of its capacity (up to 1)",
                   degraded_);
  options.repeated("--fail", "NAME", "a link or NIC that is down; traffic goes round it", failed_);
  options.number("--kernel-jitter", "S", "standard deviation of a log-normal factor per kernel",
                 kernel_jitter_, 0, 1);
  options.number("--link-jitter", "S", "the same for the wire bytes of each collective",
                 link_jitter_, 0, 1);
  options.integer("--seed", "N", "seed of jitter and random placement", seed_, 0, 1LL << 62);
  if (repeated)
    options.integer("--repetitions", "N",
                    "replays with following seeds; means and 90 % intervals are reported",
                    repetitions_, 1, 10000);
  options.option("--placement", "HOW",
                 "packed, rail, random, or a JSON file with the GPU of each rank", placement_);
}

void PerturbationFlags::add_to(PerturbationSpec& spec) const {
  for (const std::string& text : slow_)
    spec.slow_gpus.push_back(parse_slow_gpu(text, "--slow-gpu"));
  for (const std::string& text : degraded_)
    spec.degraded.push_back(parse_degraded(text, "--degrade"));
  spec.failed.insert(spec.failed.end(), failed_.begin(), failed_.end());
  if (kernel_jitter_) spec.kernel_jitter = *kernel_jitter_;
  if (link_jitter_) spec.link_jitter = *link_jitter_;
  if (seed_) spec.seed = static_cast<std::uint64_t>(*seed_);
  if (repetitions_) spec.repetitions = static_cast<int>(*repetitions_);
  if (!placement_.empty()) spec.placement = placement_;
}

std::string PerturbationFlags::other_machine() const {
  if (!slow_.empty()) return "--slow-gpu";
  if (!degraded_.empty()) return "--degrade";
  if (!failed_.empty()) return "--fail";
  return placement_.empty() ? "" : "--placement";
}

}  // namespace amsp
