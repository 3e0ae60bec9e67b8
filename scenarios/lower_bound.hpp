// SPDX-License-Identifier: Apache-2.0
// A bound below the simulated step time, without an engine (argument: docs/model/90-planner.md).
//
// Let Z be the last op of the step's compute stream. The reported period runs from the end of Z in
// one step to its end in the next. d(B), the time from there to the start of an op B, is at least
// - the longest path of precedences (stream order, communicator order, dependencies) from Z to B,
//   with each op as long as it is alone: contention and shared SMs only lengthen an op;
// - the computation that lies between Z and B, plus share x fluid time of the collectives that do:
//   computation on a GPU advances at 1 - (SM shares of the collectives that run on it).
// The larger one is taken at every op, and paths go on from there.
#pragma once
#include "base/quantity.hpp"
#include "calibrate/collective_model.hpp"
#include "calibrate/compute_model.hpp"
#include "sim/problem.hpp"
#include "topologies/network.hpp"
#include "workloads/schedule.hpp"

namespace amsp {

// For schedules with one compute stream, replayed on a healthy cluster for at least two steps.
Seconds step_time_bound(const Schedule& schedule, const Network& network,
                        const CollectiveModel& collectives, const ComputeModel& compute);

// The same, tighter: `problem` is the folded one of this schedule. All groups of a class run at the
// same time (docs/model/60-folding.md), so that a collective takes at least as long as its whole
// class alone, sharing NICs; an op counts as in the fastest class.
Seconds step_time_bound(const Schedule& schedule, const Problem& problem);

}  // namespace amsp
