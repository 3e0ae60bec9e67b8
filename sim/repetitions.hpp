// SPDX-License-Identifier: Apache-2.0
// Several replays with following seeds: means and how well they are known.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sim/analysis.hpp"
#include "sim/replay.hpp"

namespace amsp {

struct Spread {
  Seconds mean;
  Seconds deviation;   // of the sample; none for one repetition
  Seconds half_width;  // of the 90 % confidence interval of the mean (Student's t)
};

struct RepeatedReplay {
  int repetitions = 0;
  ReplayResult first;
  std::vector<Seconds> step_times;  // in the order of the seeds
  Spread step_time;
  std::map<std::string, Spread> exposed;  // "total" and by collective, over all repetitions
  MemoryTimeline memory;                  // of the repetition that needs most

  [[nodiscard]] ExposedCommunication mean_exposed() const;
};

// `replay_one(i)` gives the replay of repetition i, 0 to repetitions - 1. Throws InputError for
// fewer than one.
RepeatedReplay replay_repeatedly(const Schedule& schedule, int repetitions,
                                 const std::function<ReplayResult(int)>& replay_one);

// The 95 % quantile of Student's t (of a two-sided interval that holds 90 %).
double student_quantile(int degrees_of_freedom);

}  // namespace amsp
