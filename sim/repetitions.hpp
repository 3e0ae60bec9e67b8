// SPDX-License-Identifier: Apache-2.0
// Several replays with different jitter: mean and confidence.
#pragma once
#include <vector>

#include "sim/replay.hpp"

namespace amsp {

struct RepeatedReplay {
  std::vector<Seconds> step_times;  // in the order of the seeds
  Seconds mean;
  Seconds deviation;   // of the sample
  Seconds half_width;  // of the 95 % confidence interval of the mean (Student's t)
};

// Seeds perturbations.seed, seed + 1, …; throws InputError for fewer than two repetitions.
RepeatedReplay replay_repeatedly(const ReplayInput& input, const ReplayOptions& options,
                                 int repetitions);

// The 97.5 % quantile of Student's t.
double student_quantile(int degrees_of_freedom);

}  // namespace amsp
