// SPDX-License-Identifier: Apache-2.0
// What would make a run fit that does not.
#pragma once
#include <string>

#include "topologies/gpu_spec.hpp"
#include "workloads/model_shape.hpp"
#include "workloads/strategy.hpp"
#include "workloads/training.hpp"

namespace amsp {

// The least change, in a stated order (recompute, micro-batch, OS mesh, P and G meshes, the
// first two together, then these with a mesh), whose estimated peak is within `limit`; says so when
// there is none.
std::string fit_advice(const ModelShape& model, const Training& training, const Strategy& strategy,
                       Mesh data_parallel, Bytes limit);

// Throws InputError at `place` when the reserve leaves nothing of a GPU.
void check_reserve(Bytes reserve, const GpuSpec& gpu, const std::string& place);

// By how much a step that needs `peak` misses what the reserve leaves of a GPU, and that advice;
// empty when it fits.
std::string misfit(const ModelShape& model, const Training& training, const Strategy& strategy,
                   Mesh data_parallel, const GpuSpec& gpu, Bytes peak);

}  // namespace amsp
