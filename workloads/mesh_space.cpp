// SPDX-License-Identifier: Apache-2.0
#include "workloads/mesh_space.hpp"

namespace amsp {

std::vector<Mesh> component_meshes(Mesh data_parallel) {
  std::vector<Mesh> meshes;
  for (int inside = 1; inside <= data_parallel.inside; ++inside)
    if (data_parallel.inside % inside == 0) meshes.push_back({inside, 1});
  for (int across = 2; across <= data_parallel.across; ++across)
    if (data_parallel.across % across == 0) meshes.push_back({data_parallel.inside, across});
  return meshes;
}

std::vector<MeshChoice> mesh_choices(Mesh data_parallel) {
  const std::vector<Mesh> meshes = component_meshes(data_parallel);
  const auto within = [](Mesh small, Mesh large) {
    return large.inside % small.inside == 0 && large.across % small.across == 0;
  };
  std::vector<MeshChoice> choices;
  for (const Mesh p : meshes)
    for (const Mesh os : meshes) {
      if (!within(p, os)) continue;
      choices.push_back({p, p, os});
      if (os != p) choices.push_back({p, os, os});
    }
  return choices;
}

}  // namespace amsp
