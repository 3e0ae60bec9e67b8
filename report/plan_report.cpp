// SPDX-License-Identifier: Apache-2.0
#include "report/plan_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/units_text.hpp"
#include "report/csv.hpp"
#include "report/notes.hpp"
#include "report/run_parts.hpp"
#include "report/table.hpp"

namespace amsp {
namespace {

using Json = nlohmann::ordered_json;

const Tokens kBillion(1e9);  // the unit of cost when no budget is given

std::string collectives_text(const RunResult& run) {
  std::string text;
  for (const auto& [kind, time] : run.exposed.by_collective)
    if (time > Seconds(0))
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", kind, human(time));
  return text.empty() ? "none" : text;
}

Json candidate_json(const PlannedRun& planned, const PlanPrice& price) {
  const RunResult& run = planned.run;
  Json json{{"parameters", to_text(planned.candidate.meshes.parameters)},
            {"gradients", to_text(planned.candidate.meshes.gradients)},
            {"optimizer", to_text(planned.candidate.meshes.optimizer)},
            {"micro_batch", planned.candidate.micro_batch},
            {"recompute", name_of(planned.candidate.recompute)},
            {"overlap_broadcast", planned.candidate.overlap_broadcast},
            {"micro_batches", run.micro_batches},
            {"step_time_s", run.step_time.value()},
            {"step_time_interval_s", {run.step_time_low.value(), run.step_time_high.value()}},
            {"lower_bound_s", planned.bound.value()},
            {"paper_t_comm_s", planned.paper_t_comm.value()},
            {"paper_terms_s",
             {{"T_p", planned.paper.parameters.value()},
              {"T_g", planned.paper.gradients.value()},
              {"T_os0", planned.paper.gradient_sum.value()},
              {"T_os1", planned.paper.parameter_update.value()}}},
            {"tgs", run.tgs},
            {"mfu", run.mfu},
            {"peak_memory_bytes", run.memory.peak.value()},
            {"memory_limit_bytes", run.memory_limit.value()},
            {"memory_at_peak_bytes", memory_json(run.memory)},
            {"exposed_communication_s", exposed_json(run.exposed)},
            {"range", name_of(run.range)},
            {"compute_range", name_of(run.compute_range)},
            {"collective_range", name_of(run.collective_range)}};
  if (price.tokens > Tokens(0)) json["gpu_hours"] = gpu_hours(planned, price.tokens);
  if (price.per_gpu_hour > 0) {
    json["cost_of_1e9_tokens"] = gpu_hours(planned, kBillion) * price.per_gpu_hour;
    if (price.tokens > Tokens(0))
      json["cost"] = gpu_hours(planned, price.tokens) * price.per_gpu_hour;
  }
  if (!run.notes.empty()) json["notes"] = run.notes;
  json["reason"] = planned.reason;
  json["ties_with_next"] = planned.ties;
  json["strategy"] = Json::parse(to_json(run.strategy));
  return json;
}

bool by_paper(const PlanRequest& request) { return request.objective == PlanObjective::paper; }

Table plan_rows(const PlanRequest& request, const Plan& plan, const PlanPrice& price) {
  std::vector<TableColumn> columns{{"rank"},
                                   {"P"},
                                   {"G"},
                                   {"OS"},
                                   {"micro-batch"},
                                   {"recompute", "", Align::left},
                                   {"broadcast overlap", "", Align::left},
                                   {"M"},
                                   {"step", "s"},
                                   {"TGS"},
                                   {"interval"},
                                   {"MFU"},
                                   {"peak memory", "GiB"},
                                   {"exposed", "s"},
                                   {"of it", "", Align::left},
                                   {"predictions", "", Align::left}};
  // The column that decides comes first.
  if (by_paper(request)) columns.insert(columns.begin() + 1, {"T_comm", "s"});
  if (price.tokens > Tokens(0)) columns.push_back({"GPU-hours"});
  if (price.per_gpu_hour > 0)
    columns.push_back({price.tokens > Tokens(0) ? "cost" : "cost of 1e9 tokens"});
  Table table(columns);
  int rank = 0;
  for (const PlannedRun& planned : plan.best) {
    const RunResult& run = planned.run;
    const PlanCandidate& candidate = planned.candidate;
    const double tokens = run.tgs * run.step_time.value();
    std::vector<std::string> cells{
        std::to_string(++rank),
        to_text(candidate.meshes.parameters),
        to_text(candidate.meshes.gradients),
        to_text(candidate.meshes.optimizer),
        std::to_string(candidate.micro_batch),
        std::string(name_of(candidate.recompute)),
        candidate.overlap_broadcast ? "on" : "off",
        std::to_string(run.micro_batches),
        fmt::format("{:.4f}", run.step_time.value()),
        fmt::format("{:.0f}", run.tgs),
        fmt::format("[{:.0f}, {:.0f}]", tokens / run.step_time_high.value(),
                    tokens / run.step_time_low.value()),
        fmt::format("{:.3f}", run.mfu),
        fmt::format("{:.1f}", run.memory.peak / gibibytes(1)),
        fmt::format("{:.4f}", run.exposed.total.value()),
        collectives_text(run),
        std::string(name_of(run.range))};
    if (by_paper(request))
      cells.insert(cells.begin() + 1, fmt::format("{:.4f}", planned.paper_t_comm.value()));
    if (price.tokens > Tokens(0))
      cells.push_back(fmt::format("{:.0f}", gpu_hours(planned, price.tokens)));
    if (price.per_gpu_hour > 0) {
      const Tokens budget = price.tokens > Tokens(0) ? price.tokens : kBillion;
      cells.push_back(fmt::format("{:.0f}", gpu_hours(planned, budget) * price.per_gpu_hour));
    }
    table.add_row(std::move(cells));
  }
  return table;
}

}  // namespace

double gpu_hours(const PlannedRun& planned, Tokens tokens) {
  return tokens.value() / planned.run.tgs / 3600;
}

std::string plan_table(const PlanRequest& request, const Plan& plan, const PlanPrice& price) {
  std::string text = fmt::format(
      "{} on {} GPU{} of {}: {} candidates, {} too large for {}, {} ruled out by their lower "
      "bound, {} simulated ({} of them too large), {} the same as another (no broadcast to "
      "overlap); best by {}\n",
      request.model.name, request.gpus, request.gpus == 1 ? "" : "s", request.cluster.name,
      plan.candidates, plan.too_large, request.cluster.node.gpu.name, plan.pruned, plan.simulated,
      plan.simulated_too_large, plan.equal,
      by_paper(request) ? "T_comm, the paper's objective (nothing overlapped)"
                        : "the simulated step time");
  if (plan.best.empty()) return text;
  text += table_text(plan_rows(request, plan, price));
  for (std::size_t i = 0; i + 1 < plan.best.size(); ++i)
    text += fmt::format("{} {} {}: {}\n", i + 1, plan.best[i].ties ? "equals" : "beats", i + 2,
                        plan.best[i].reason);
  if (!plan.paper_note.empty()) text += plan.paper_note + "\n";
  for (const std::string& note : notes_of(plan)) text += note + "\n";
  return text;
}

std::string plan_csv(const PlanRequest& request, const Plan& plan, const PlanPrice& price) {
  return csv_text(plan_rows(request, plan, price));
}

std::string plan_json(const PlanRequest& request, const Plan& plan, const PlanPrice& price) {
  Json best = Json::array();
  for (const PlannedRun& planned : plan.best) best.push_back(candidate_json(planned, price));
  Json json{{"format", "amsp-plan-1"},
            {"model", request.model.name},
            {"cluster", request.cluster.name},
            {"calibration", request.calibration},
            {"gpus", request.gpus},
            {"global_batch", request.training.global_batch},
            {"sequence_length", request.training.sequence_length},
            {"objective", request.objective == PlanObjective::paper ? "paper" : "step_time"},
            {"candidates", plan.candidates},
            {"too_large", plan.too_large},
            {"pruned", plan.pruned},
            {"simulated", plan.simulated},
            {"simulated_too_large", plan.simulated_too_large},
            {"same_as_another", plan.equal},
            {"best", best},
            {"manifest",
             {{"program", "amsp " AMSP_VERSION},
              {"inputs",
               {{{"role", "model"}, {"name", request.model.name}, {"sha256", request.model.hash}},
                {{"role", "cluster"},
                 {"name", request.cluster.name},
                 {"sha256", request.cluster.hash}}}}}}};
  if (price.tokens > Tokens(0)) json["tokens"] = price.tokens.value();
  if (price.per_gpu_hour > 0) json["price_per_gpu_hour"] = price.per_gpu_hour;
  if (!plan.paper_note.empty()) json["paper_note"] = plan.paper_note;
  if (plan.best.empty()) json["nothing_fits"] = plan.nothing_fits;
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace amsp
