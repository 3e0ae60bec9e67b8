// SPDX-License-Identifier: Apache-2.0
// Every choice of meshes that the paper's rules allow (arXiv:2311.00257v2, section V-B): P within G
// within OS, each factor divides the data-parallel mesh, a node is filled before nodes are crossed,
// and s_g is s_p or s_os (section IV-C).
#pragma once
#include <vector>

#include "workloads/strategy.hpp"

namespace amsp {

struct MeshChoice {
  Mesh parameters, gradients, optimizer;
  bool operator==(const MeshChoice&) const = default;
};

// Meshes that one component may have, by size: 1x1, 2x1, …, Rx1, Rx2, …, RxN (divisors only).
std::vector<Mesh> component_meshes(Mesh data_parallel);

// In a fixed order: by P, then G, then OS.
std::vector<MeshChoice> mesh_choices(Mesh data_parallel);

}  // namespace amsp
