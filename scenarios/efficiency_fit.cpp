// SPDX-License-Identifier: Apache-2.0
#include "scenarios/efficiency_fit.hpp"

#include <fmt/format.h>

#include <boost/math/tools/roots.hpp>
#include <cmath>
#include <cstdint>

namespace amsp {

double efficiency_for(const Scenario& scenario, int gpus, double tgs,
                      const ReplayOptions& options) {
  const auto miss = [&](double efficiency) {
    Scenario tried = scenario;
    tried.compute_efficiency = efficiency;
    return std::log(run_scenario(tried, gpus, options).tgs / tgs);
  };
  const double low = 0.5, high = 2;
  const double at_low = miss(low), at_high = miss(high);
  if (at_low > 0 || at_high < 0)
    throw InputError(fmt::format(
        "scenario {} on {} GPUs: no compute_efficiency from {} to {} gives {:.0f} tokens/GPU/s; "
        "there it reaches {:.0f} to {:.0f}",
        scenario.name, gpus, low, high, tgs, tgs * std::exp(at_low), tgs * std::exp(at_high)));
  std::uintmax_t evaluations = 50;
  const auto near = [](double a, double b) { return std::abs(b - a) < 1e-6; };
  const auto [below, above] =
      boost::math::tools::toms748_solve(miss, low, high, at_low, at_high, near, evaluations);
  return (below + above) / 2;
}

}  // namespace amsp
