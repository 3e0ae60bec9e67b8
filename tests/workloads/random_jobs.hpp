// SPDX-License-Identifier: Apache-2.0
// Random small jobs for property tests, and what a schedule moves.
#pragma once
#include <rapidcheck.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "workloads/generator.hpp"

namespace amsp::testing {

inline std::vector<int> divisors(int number) {
  std::vector<int> result;
  for (int i = 1; i <= number; ++i)
    if (number % i == 0) result.push_back(i);
  return result;
}

inline ModelShape random_model() {
  ModelShape model;
  model.name = "random";
  model.layers = *rc::gen::inRange(1, 4);
  model.head_dim = 8 * *rc::gen::inRange(1, 4);
  model.kv_heads = *rc::gen::inRange(1, 4);
  model.heads = model.kv_heads * *rc::gen::inRange(1, 4);
  model.hidden = 16 * *rc::gen::inRange(1, 9);
  model.intermediate = 8 * *rc::gen::inRange(1, 40);
  model.gated_mlp = *rc::gen::arbitrary<bool>();
  model.vocabulary = *rc::gen::inRange(10, 300000);
  model.tied_embeddings = *rc::gen::arbitrary<bool>();
  model.mlp_bias = *rc::gen::arbitrary<bool>();
  model.norms_per_layer = *rc::gen::inRange(0, 5);
  model.parallel_blocks = model.norms_per_layer == 1 || *rc::gen::arbitrary<bool>();
  return model;
}

inline Mesh random_machine() {
  return {*rc::gen::element(1, 2, 4, 6, 7, 8), *rc::gen::inRange(1, 5)};
}

// A mesh that obeys the rules: between `least` and the whole job, filling nodes first.
inline Mesh random_mesh(Mesh data_parallel, Mesh least) {
  std::vector<Mesh> meshes;
  for (const int inside : divisors(data_parallel.inside))
    if (inside % least.inside == 0 && least.across == 1) meshes.push_back({inside, 1});
  for (const int across : divisors(data_parallel.across))
    if (across > 1 && across % least.across == 0) meshes.push_back({data_parallel.inside, across});
  return *rc::gen::elementOf(meshes);
}

inline Training random_training(Mesh data_parallel) {
  Training training;
  training.sequence_length = 16 * *rc::gen::inRange(1, 20);
  training.micro_batch = *rc::gen::inRange(1, 3);
  training.global_batch = training.micro_batch * data_parallel.size() * *rc::gen::inRange(1, 6);
  training.recompute = static_cast<Recompute>(*rc::gen::inRange(0, 3));
  return training;
}

// Bytes that a rank hands to collectives in a step, by kind and communicator.
using Volumes = std::map<std::pair<CollectiveKind, std::string>, double>;

inline Volumes volumes(const Schedule& schedule) {
  Volumes result;
  for (const Block& block : schedule.blocks)
    for (const OpId id : block.ops) {
      const auto& part = schedule.op(id).collective;
      if (!part) continue;
      const auto& communicator = schedule.communicators[part->communicator.position()];
      if (communicator.name == "owners") continue;  // four bytes of gradient norm
      result[{part->kind, communicator.name}] +=
          part->bytes.value() * static_cast<double>(block.repeat);
    }
  return result;
}

inline int group_size(const Schedule& schedule, const std::string& name) {
  for (const Communicator& communicator : schedule.communicators)
    if (communicator.name == name) return communicator.group_size();
  return 1;
}

}  // namespace amsp::testing
