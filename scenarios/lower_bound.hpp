// SPDX-License-Identifier: Apache-2.0
// A bound below the simulated step time, without an engine (docs/model.md, "The planner").
//
// Let X be the first op of the step. Every path of precedences (stream order, communicator order,
// dependencies) from the start of X in one step to the start of X in the next is a chain of ops
// that the replay runs one after another, and contention, stragglers and shared SMs only make an
// op longer than it is alone. So the start of X moves by at least the longest such path, with each
// op as long as it is alone, in every step; hence the steady period is at least that.
//
// Besides, computation on a GPU advances at the rate 1 - (SM shares of the collectives that run on
// it), and every collective of a step runs at least as long as alone. Over one period the shares
// take at least sum(share x fluid time), so the period is at least the computation plus that (the
// replay's floor of 0.05 under the rate is taken off).
#pragma once
#include "base/quantity.hpp"
#include "calibrate/collective_model.hpp"
#include "calibrate/compute_model.hpp"
#include "topologies/network.hpp"
#include "workloads/schedule.hpp"

namespace amsp {

Seconds step_time_bound(const Schedule& schedule, const Network& network,
                        const CollectiveModel& collectives, const ComputeModel& compute);

}  // namespace amsp
