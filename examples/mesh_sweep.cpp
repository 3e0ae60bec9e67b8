// SPDX-License-Identifier: Apache-2.0
// How does the step time of a job change with the mesh over which the optimizer states are
// sharded? The libraries of amsp, without its command line.
#include <cstdio>

#include "base/error.hpp"
#include "base/units_text.hpp"
#include "scenarios/run.hpp"

int main(int argc, char** argv) try {
  const amsp::Scenario scenario = amsp::load_scenario(argc > 1 ? argv[1] : "paper-7b-amsp");
  const int gpus = 64;
  const amsp::Machine machine(scenario, gpus);

  std::printf("%s on %d GPUs of %s\n", scenario.model.name.c_str(), gpus,
              scenario.cluster.name.c_str());
  std::printf("%-10s %10s %8s %12s\n", "optimizer", "step", "TGS", "memory");
  for (const char* mesh : {"1x1", "2x1", "8x1", "8x2", "8x8"}) {
    amsp::Strategy strategy = amsp::parse_strategy(scenario.strategy, machine.data_parallel());
    strategy.optimizer = amsp::parse_mesh(mesh, machine.data_parallel(), {});
    amsp::check_strategy(strategy, machine.data_parallel());
    const amsp::RunResult run = machine.simulate(scenario.model, scenario.training, strategy,
                                                 scenario.perturbations, amsp::ReplayOptions{});
    std::printf("%-10s %10s %8.0f %12s%s\n", mesh, amsp::human(run.step_time).c_str(), run.tgs,
                amsp::human(run.memory.peak).c_str(), run.fits ? "" : "  does not fit");
  }
  return 0;
} catch (const amsp::InputError& error) {
  std::fprintf(stderr, "mesh_sweep: %s\n", error.what());
  return 2;
}
