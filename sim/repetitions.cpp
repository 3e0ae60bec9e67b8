// SPDX-License-Identifier: Apache-2.0
#include "sim/repetitions.hpp"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "base/error.hpp"

namespace amsp {

double student_quantile(int degrees_of_freedom) {
  return boost::math::quantile(boost::math::students_t(degrees_of_freedom), 0.975);
}

RepeatedReplay replay_repeatedly(const ReplayInput& input, const ReplayOptions& options,
                                 int repetitions) {
  if (repetitions < 2) throw InputError("a confidence interval needs at least two repetitions");
  RepeatedReplay all;
  double sum = 0;
  for (int i = 0; i < repetitions; ++i) {
    ReplayInput one = input;
    one.perturbations.seed += static_cast<std::uint64_t>(i);
    all.step_times.push_back(replay(one, options).step_time);
    sum += all.step_times.back().value();
  }
  const double n = repetitions;
  const double mean = sum / n;
  double squares = 0;
  for (const Seconds time : all.step_times)
    squares += (time.value() - mean) * (time.value() - mean);
  all.mean = Seconds(mean);
  all.deviation = Seconds(std::sqrt(squares / (n - 1)));
  all.half_width = all.deviation * (student_quantile(repetitions - 1) / std::sqrt(n));
  return all;
}

}  // namespace amsp
