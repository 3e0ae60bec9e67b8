// SPDX-License-Identifier: Apache-2.0
// What no step can beat: the floating-point operations of its kernels at the GPU's data-sheet peak.
#pragma once
#include "scenarios/run.hpp"
#include "topologies/gpu_spec.hpp"
#include "workloads/schedule.hpp"

namespace amsp {

// Matrix products and attention that every rank computes in one step (causal attention halved,
// recomputation counted), each at the dense peak of its type; a type that the data sheet does not
// list counts at the largest rate that it does. 0 when the sheet lists none.
Seconds roofline_time(const Schedule& schedule, const GpuSpec& gpu);

// Moves the fast end of the interval to the roofline where it lies beyond it, and notes that; also
// notes a step that is itself beyond it, and a utilisation above 1 that is none.
void hold_to_roofline(RunResult& result, const GpuSpec& gpu);

}  // namespace amsp
