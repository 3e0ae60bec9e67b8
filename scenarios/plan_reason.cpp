// SPDX-License-Identifier: Apache-2.0
#include "scenarios/plan_reason.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/units_text.hpp"
#include "scenarios/planner.hpp"

namespace amsp {
namespace {

std::map<std::string, Seconds> parts_of(PlanObjective objective, const PlannedRun& planned) {
  if (objective == PlanObjective::paper)
    return {{"T_p", planned.paper.parameters},
            {"T_g", planned.paper.gradients},
            {"T_os0", planned.paper.gradient_sum},
            {"T_os1", planned.paper.parameter_update}};
  const RunResult& run = planned.run;
  std::map<std::string, Seconds> parts{{"computation", run.step_time - run.exposed.total}};
  for (const auto& [kind, time] : run.exposed.by_collective) parts["exposed " + kind] = time;
  return parts;
}

// What differs in the settings, "OS 8x1 instead of 8x4, micro-batch 2 instead of 1".
std::string differences(const PlanCandidate& a, const PlanCandidate& b) {
  std::string text;
  const auto note = [&text](std::string_view what, const std::string& ours,
                            const std::string& theirs) {
    if (ours != theirs)
      text += fmt::format("{}{} {} instead of {}", text.empty() ? "" : ", ", what, ours, theirs);
  };
  note("P", to_text(a.meshes.parameters), to_text(b.meshes.parameters));
  note("G", to_text(a.meshes.gradients), to_text(b.meshes.gradients));
  note("OS", to_text(a.meshes.optimizer), to_text(b.meshes.optimizer));
  note("micro-batch", std::to_string(a.micro_batch), std::to_string(b.micro_batch));
  note("recompute", std::string(name_of(a.recompute)), std::string(name_of(b.recompute)));
  note("broadcast overlap", a.overlap_broadcast ? "on" : "off", b.overlap_broadcast ? "on" : "off");
  return text;
}

}  // namespace

bool ties(PlanObjective objective, const PlannedRun& a, const PlannedRun& b) {
  const bool paper = objective == PlanObjective::paper;
  const Seconds x = paper ? a.paper_t_comm : a.run.step_time;
  const Seconds y = paper ? b.paper_t_comm : b.run.step_time;
  constexpr double kRounding = 1e-9;
  return std::abs((x - y).value()) <= kRounding * std::max(x, y).value();
}

// What it saves most of, and what it pays for that.
std::string why_better(PlanObjective objective, const PlannedRun& better, const PlannedRun& worse) {
  const std::string settings = differences(better.candidate, worse.candidate);
  if (ties(objective, better, worse))
    return settings + (objective == PlanObjective::paper ? ": equal T_comm" : ": equal step time");
  auto parts = parts_of(objective, worse);
  for (const auto& [name, time] : parts_of(objective, better)) parts[name] -= time;
  const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto most = std::max_element(parts.begin(), parts.end(), less);
  const auto least = std::min_element(parts.begin(), parts.end(), less);
  std::string text = fmt::format("{}: {} less {}", settings, human(most->second), most->first);
  if (least->second < most->second * -0.1)
    text += fmt::format(", {} more {}", human(Seconds(0) - least->second), least->first);
  const bool paper = objective == PlanObjective::paper;
  const Seconds saved =
      paper ? worse.paper_t_comm - better.paper_t_comm : worse.run.step_time - better.run.step_time;
  return fmt::format("{} ({} less in all)", text, human(saved));
}

}  // namespace amsp
