// SPDX-License-Identifier: Apache-2.0
// An explanation of a step as tables and as JSON.
#pragma once
#include <string>

#include "sim/explain.hpp"

namespace amsp {

struct ExplanationReport {
  const Schedule& schedule;
  const Network& network;
  const Explanation& explanation;
  int top = 8;                  // rows of each table
  std::string fit_advice = {};  // by how much the step does not fit, and what would; empty: fits
};

std::string explanation_table(const ExplanationReport& report);
std::string explanation_json(const ExplanationReport& report);

}  // namespace amsp
