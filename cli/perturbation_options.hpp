// SPDX-License-Identifier: Apache-2.0
// The flags that break the symmetry of a cluster; added to what a scenario says.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "sim/perturbation_spec.hpp"

namespace amsp {

class PerturbationFlags {
 public:
  // `repeated`: with --repetitions.
  void declare(Options& options, bool repeated = true);
  // Throws InputError for text that is no perturbation.
  void add_to(PerturbationSpec& spec) const;
  // The first flag that was given and makes another machine of the cluster (noise does not); "" for
  // none.
  [[nodiscard]] std::string other_machine() const;

 private:
  std::vector<std::string> slow_, degraded_, failed_;
  std::string placement_;
  std::optional<double> kernel_jitter_, link_jitter_;
  std::optional<long long> seed_, repetitions_;
};

}  // namespace amsp
