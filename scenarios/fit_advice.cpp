// SPDX-License-Identifier: Apache-2.0
#include "scenarios/fit_advice.hpp"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "base/error.hpp"
#include "base/units_text.hpp"
#include "workloads/generator.hpp"
#include "workloads/memory.hpp"
#include "workloads/mesh_space.hpp"

namespace amsp {
namespace {

struct Change {
  std::string text;  // as --set would say it
  Training training;
  Strategy strategy;
};

std::optional<Bytes> peak_of(const ModelShape& model, const Change& change, Mesh data_parallel) {
  try {
    return estimate_peak_memory(
               generate_schedule(model, change.training, change.strategy, data_parallel))
        .peak;
  } catch (const InputError&) {
    return std::nullopt;  // the combination breaks a rule of the strategy
  }
}

// Full recompute, a micro-batch of one sequence.
std::vector<Change> training_changes(const Change& from) {
  std::vector<Change> changes;
  if (from.training.recompute != Recompute::full) {
    Change change = from;
    change.training.recompute = Recompute::full;
    change.text += "training.recompute=full";
    changes.push_back(change);
  }
  if (from.training.micro_batch > 1) {
    Change change = from;
    change.training.micro_batch = 1;
    change.text += "training.micro_batch=1";
    changes.push_back(change);
  }
  return changes;
}

std::vector<Change> mesh_changes(const Change& from, Mesh data_parallel) {
  std::vector<Change> changes;
  for (const Mesh mesh : component_meshes(data_parallel)) {
    if (mesh.size() <= from.strategy.optimizer.size()) continue;
    Change change = from;
    change.strategy.optimizer = mesh;
    change.text += "strategy.optimizer=" + to_text(mesh);
    changes.push_back(change);
  }
  for (const Mesh mesh : component_meshes(data_parallel)) {
    if (mesh.size() <= from.strategy.parameters.size()) continue;
    Change change = from;
    change.strategy.parameters = change.strategy.gradients = mesh;
    if (change.strategy.optimizer.size() < mesh.size()) change.strategy.optimizer = mesh;
    change.text += fmt::format(
        "strategy.parameters={0} strategy.gradients={0} "
        "strategy.optimizer={1}",
        to_text(mesh), to_text(change.strategy.optimizer));
    changes.push_back(change);
  }
  return changes;
}

}  // namespace

std::string fit_advice(const ModelShape& model, const Training& training, const Strategy& strategy,
                       Mesh data_parallel, Bytes limit) {
  const Change none{"", training, strategy};
  std::vector<Change> settings = training_changes(none);
  std::vector<Change> changes = settings;
  for (const Change& change : mesh_changes(none, data_parallel)) changes.push_back(change);
  if (settings.size() == 2) {
    Change both = settings[0];
    both.training.micro_batch = settings[1].training.micro_batch;
    both.text += " " + settings[1].text;
    changes.push_back(both);
    settings.push_back(both);
  }
  for (Change change : settings) {
    change.text += " ";
    for (const Change& more : mesh_changes(change, data_parallel)) changes.push_back(more);
  }
  for (const Change& change : changes)
    if (const auto peak = peak_of(model, change, data_parallel); peak && *peak <= limit)
      return fmt::format("{} would fit (about {})", change.text, human(*peak));
  return "no mesh, recompute and micro-batch together make it fit on these GPUs (amsp plan says "
         "what would)";
}

void check_reserve(Bytes reserve, const GpuSpec& gpu, const std::string& place) {
  if (reserve < gpu.memory) return;
  throw InputError({place, ""},
                   fmt::format("{} leaves nothing of the {} of a {}; less than that would do",
                               human(reserve), human(gpu.memory), gpu.name));
}

std::string misfit(const ModelShape& model, const Training& training, const Strategy& strategy,
                   Mesh data_parallel, const GpuSpec& gpu, Bytes peak) {
  const Bytes limit = gpu.memory - training.memory_reserve;
  if (peak <= limit) return "";
  return fmt::format("needs {} more than the {} that a {} leaves; {}", human(peak - limit),
                     human(limit), gpu.name,
                     fit_advice(model, training, strategy, data_parallel, limit));
}

}  // namespace amsp
