// SPDX-License-Identifier: Apache-2.0
#include "report/run_trace.hpp"

#include "report/chrome_trace.hpp"
#include "report/link_timeline.hpp"

namespace amsp {

std::string run_trace(const Scenario& scenario, const RunResult& run) {
  return run_trace(Machine(scenario, run.gpus), scenario.perturbations, run);
}

std::string run_trace(const Machine& machine, const PerturbationSpec& perturbations,
                      const RunResult& run) {
  const PerturbedNetwork perturbed = apply(perturbations, machine.network(), run.gpus);
  const ReplayInput input{run.schedule,      perturbed.network(),   machine.collectives(),
                          machine.compute(), perturbed.gpu_of_rank, perturbed.perturbations};
  return chrome_trace({run.schedule, run.replay, run.memory, &perturbed.network(),
                       perturbed.gpu_of_rank, link_timeline(input, run.replay)});
}

}  // namespace amsp
