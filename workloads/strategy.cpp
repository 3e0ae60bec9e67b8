// SPDX-License-Identifier: Apache-2.0
#include "workloads/strategy.hpp"

#include <fmt/format.h>

namespace amsp {

std::vector<const StrategyPreset*> all_strategy_presets();

const std::vector<const StrategyPreset*>& strategy_presets() {
  static const std::vector<const StrategyPreset*> presets = all_strategy_presets();
  return presets;
}

const StrategyPreset& find_strategy_preset(std::string_view name, const Place& place) {
  std::vector<std::string> accepted;
  for (const StrategyPreset* preset : strategy_presets()) {
    if (preset->name() == name) return *preset;
    accepted.emplace_back(preset->name());
  }
  throw InputError(place, unknown_name("strategy", name, accepted));
}

std::string to_text(Mesh mesh) { return fmt::format("{}x{}", mesh.inside, mesh.across); }

namespace {

// The rules of one strategy on one job.
class Rules {
 public:
  Rules(const Strategy& strategy, Mesh data_parallel) : s_(strategy), dp_(data_parallel) {}

  void run() const {
    if (dp_.inside < 1 || dp_.across < 1) fail("a job needs at least one GPU");
    fits(s_.parameters, "parameters");
    fits(s_.gradients, "gradients");
    fits(s_.optimizer, "optimizer");
    ordered(s_.parameters, "parameters", s_.gradients, "gradients");
    ordered(s_.gradients, "gradients", s_.optimizer, "optimizer");
    if (s_.gradients != s_.parameters && s_.gradients != s_.optimizer)
      fail(
          fmt::format("gradients {} must be sharded as the parameters ({}) or as the optimizer "
                      "states ({})",
                      to_text(s_.gradients), to_text(s_.parameters), to_text(s_.optimizer)));
    check_switches();
    check_quantities();
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw InputError(fmt::format("strategy {}: {}", s_.name, message));
  }

  void divides(int part, int whole, std::string_view what, std::string_view where) const {
    if (part < 1) fail(fmt::format("{}: a mesh dimension of {}; at least 1", what, part));
    if (whole % part == 0) return;
    std::string divisors;
    for (int i = 1; i <= whole; ++i)
      if (whole % i == 0) divisors += (divisors.empty() ? "" : ", ") + std::to_string(i);
    fail(
        fmt::format("divisibility: the {} mesh has {} GPUs {}, which does not divide the job's "
                    "{}; {} would do",
                    what, part, where, whole, divisors));
  }

  void fits(Mesh mesh, std::string_view what) const {
    divides(mesh.inside, dp_.inside, what, "inside a node");
    divides(mesh.across, dp_.across, what, "across nodes");
    if (mesh.across > 1 && mesh.inside != dp_.inside)
      fail(fmt::format(
          "a mesh fills a node before it crosses nodes: {} {} uses {} of {} GPUs in "
          "each of {} nodes; {}x{} would do",
          what, to_text(mesh), mesh.inside, dp_.inside, mesh.across, dp_.inside, mesh.across));
  }

  void ordered(Mesh small, std::string_view small_name, Mesh large,
               std::string_view large_name) const {
    if (small.inside > large.inside || small.across > large.across)
      fail(
          fmt::format("dependency rule: {} {} must not be sharded further than {} {} (a GPU would "
                      "hold {} of parameters that it does not own); make {} at least {}",
                      small_name, to_text(small), large_name, to_text(large), large_name,
                      large_name, to_text(small)));
    if (large.inside % small.inside != 0 || large.across % small.across != 0)
      fail(fmt::format("divisibility: {} {} must divide {} {} in both dimensions", small_name,
                       to_text(small), large_name, to_text(large)));
  }

  void check_switches() const {
    if (s_.optimizer != s_.parameters && s_.update == ParameterUpdate::none)
      fail(
          "optimizer states are sharded further than parameters, so updated parameters must "
          "spread: update \"broadcast\" or \"all_gather\"");
    if (s_.inter_tensor_ownership && s_.update == ParameterUpdate::all_gather)
      fail(
          "whole tensors owned by ranks are uneven shards, which all_gather cannot spread; use "
          "update \"broadcast\" or set inter_tensor_ownership to false");
    if (s_.secondary.size() > 0) {
      fits(s_.secondary, "secondary");
      ordered(s_.secondary, "secondary", s_.parameters, "parameters");
    }
    if (s_.quantized_gradients && s_.gradients != s_.parameters)
      fail(
          "quantized_gradients replaces the reduce-scatter of parameters' shards, so gradients "
          "must be sharded as the parameters");
  }

  void check_quantities() const {
    if (!(s_.bucket.value() >= 1)) fail("the bucket must hold at least a byte");
    if (!(s_.reuse_distance.value() >= 0)) fail("the reuse distance cannot be negative");
    if (!(s_.sub_group.value() >= 0)) fail("the optimizer's sub-group cannot be negative");
    if (s_.gathers_in_flight < 1) fail("at least one gather must be in flight");
  }

  const Strategy& s_;
  Mesh dp_;
};

}  // namespace

void check_strategy(const Strategy& strategy, Mesh data_parallel) {
  Rules(strategy, data_parallel).run();
}

}  // namespace amsp
