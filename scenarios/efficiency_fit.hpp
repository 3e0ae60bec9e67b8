// SPDX-License-Identifier: Apache-2.0
// One factor on the speed of all kernels, from one published throughput.
#pragma once
#include <string>

#include "scenarios/run.hpp"

namespace amsp {

struct EfficiencyFit {
  std::string source, system, model;  // the point that it comes from: "Fig. 12", "AMSP", …
  int gpus = 0;
  double efficiency = 1;
};

// The compute_efficiency, to 1e-6, with which `scenario` on `gpus` GPUs reaches `tgs` tokens per
// GPU and second. Throws InputError when none from 0.5 to 2 does.
double efficiency_for(const Scenario& scenario, int gpus, double tgs, const ReplayOptions& options);

}  // namespace amsp
