// SPDX-License-Identifier: Apache-2.0
// The Chrome trace of a simulated run, with its links.
#pragma once
#include <string>

#include "scenarios/run.hpp"
#include "scenarios/scenario.hpp"

namespace amsp {

// `run` was made by run_scenario(scenario, run.gpus, …).
std::string run_trace(const Scenario& scenario, const RunResult& run);
// `run` was made by machine.simulate(…, perturbations, …).
std::string run_trace(const Machine& machine, const PerturbationSpec& perturbations,
                      const RunResult& run);

}  // namespace amsp
