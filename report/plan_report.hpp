// SPDX-License-Identifier: Apache-2.0
// A plan as table, CSV and JSON (docs/formats/plan.md).
#pragma once
#include <string>

#include "scenarios/planner.hpp"

namespace amsp {

// What the whole training costs; zero where the user gave no budget or price.
struct PlanPrice {
  Tokens tokens;
  double per_gpu_hour = 0;
};

// GPU-hours to train on `tokens` tokens with this run.
double gpu_hours(const PlannedRun& planned, Tokens tokens);

std::string plan_table(const PlanRequest& request, const Plan& plan, const PlanPrice& price);
std::string plan_csv(const PlanRequest& request, const Plan& plan, const PlanPrice& price);
std::string plan_json(const PlanRequest& request, const Plan& plan, const PlanPrice& price);

}  // namespace amsp
