// SPDX-License-Identifier: Apache-2.0
#include "sim/explain.hpp"

#include <algorithm>
#include <map>

#include "base/collective_kind.hpp"
#include "sim/record_graph.hpp"

namespace amsp {
namespace {

std::string_view name_of(RecordGraph::Reason reason) {
  switch (reason) {
    case RecordGraph::Reason::dependency:
      return "dependency";
    case RecordGraph::Reason::stream:
      return "stream";
    case RecordGraph::Reason::communicator:
      return "communicator";
    case RecordGraph::Reason::member:
      return "member";
    case RecordGraph::Reason::none:
      break;
  }
  return "nothing";
}

bool in_step(const ReplayResult& result, const OpRecord& record) {
  return record.end > result.period_start && record.start < result.period_start + result.step_time;
}

const OpRecord* last_record(const ReplayResult& result) {
  // The sum of two times may round below the one that it stands for.
  const Seconds end = (result.period_start + result.step_time) * (1 + 1e-12);
  const OpRecord* last = nullptr;
  for (const OpRecord& record : result.records)
    if (record.end <= end && (!last || record.end > last->end)) last = &record;
  return last;
}

// Backwards from the end of the step. An op covers the time from its start to its end; a collective
// whose last member is another rank continues with what that member waited for.
std::vector<PathStep> critical_path(const RecordGraph& graph, const ReplayResult& result) {
  std::vector<PathStep> path;
  const OpRecord* at = last_record(result);
  while (at && at->end > result.period_start) {
    RecordGraph::Cause cause = graph.start_cause(*at);
    const OpRecord* from = at;
    std::string_view why = name_of(cause.reason);
    if (cause.reason == RecordGraph::Reason::member) {
      from = cause.record;
      cause = graph.ready_cause(*from);
    }
    path.push_back(
        {at->op, from->rank, std::max(at->start, result.period_start), at->end, std::string(why)});
    if (cause.record == at) break;
    at = cause.record;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

std::vector<PathShare> shares_of(const Schedule& schedule, const ReplayResult& result,
                                 const std::vector<PathStep>& path) {
  std::map<std::string, Seconds> by_kind;
  Seconds covered;
  for (const PathStep& step : path) {
    const Op& op = schedule.op(step.op);
    const std::string what =
        op.collective ? std::string(amsp::name_of(op.collective->kind)) : "compute";
    by_kind[what] += step.end - step.begin;
    covered += step.end - step.begin;
  }
  const Seconds rest = result.step_time - covered;
  if (rest > result.step_time * 1e-9) by_kind["other"] += rest;
  std::vector<PathShare> shares;
  for (const auto& [what, time] : by_kind) shares.push_back({what, time});
  std::stable_sort(shares.begin(), shares.end(),
                   [](const PathShare& a, const PathShare& b) { return a.time > b.time; });
  return shares;
}

std::vector<Waiting> waits_of(const Schedule& schedule, const RecordGraph& graph,
                              const ReplayResult& result) {
  struct Sum {
    Seconds total, largest;
    std::string op;
  };
  std::map<std::pair<Rank, Rank>, Sum> sums;
  for (const OpRecord& record : result.records) {
    const Op& op = schedule.op(record.op);
    if (!op.collective || record.start <= record.ready || !in_step(result, record)) continue;
    const RecordGraph::Cause cause = graph.start_cause(record);
    if (cause.reason != RecordGraph::Reason::member) continue;
    Sum& sum = sums[{record.rank, cause.record->rank}];
    const Seconds time = record.start - record.ready;
    sum.total += time;
    if (time > sum.largest) {
      sum.largest = time;
      sum.op = op.name;
    }
  }
  std::vector<Waiting> waits;
  for (const auto& [ranks, sum] : sums)
    waits.push_back({ranks.first, ranks.second, sum.total, sum.op});
  std::stable_sort(waits.begin(), waits.end(),
                   [](const Waiting& a, const Waiting& b) { return a.time > b.time; });
  return waits;
}

std::vector<Saving> savings_of(const ReplayInput& input, const ReplayOptions& options,
                               Seconds step_time) {
  const std::vector<std::pair<std::string, Idealised>> resources{
      {"compute", {true, false, {}}},
      {"latency of collectives", {false, true, {}}},
      {"NVLink and PCIe inside nodes",
       {false, false, {LinkKind::nvlink, LinkKind::pcie, LinkKind::socket}}},
      {"NICs", {false, false, {LinkKind::nic}}},
      {"fabric above the NICs", {false, false, {LinkKind::fabric}}},
      {"all links",
       {false,
        false,
        {LinkKind::nvlink, LinkKind::pcie, LinkKind::socket, LinkKind::nic, LinkKind::fabric}}}};
  std::vector<Saving> savings;
  for (const auto& [name, idealised] : resources) {
    ReplayInput ideal = input;
    ideal.idealised = idealised;
    const Seconds time = replay(ideal, options).step_time;
    savings.push_back({name, time, step_time - time});
  }
  std::stable_sort(savings.begin(), savings.end(),
                   [](const Saving& a, const Saving& b) { return a.saved > b.saved; });
  return savings;
}

template <class T>
void cut(std::vector<T>& list, int top) {
  if (list.size() > static_cast<std::size_t>(top)) list.erase(list.begin() + top, list.end());
}

}  // namespace

Explanation explain(const ReplayInput& input, const ReplayOptions& asked, int top) {
  ReplayOptions options = asked;
  options.fold_repeats = false;  // the path must not run into a gap
  options.implied_links = true;
  Explanation explanation;
  explanation.result = replay(input, options);
  const ReplayResult& result = explanation.result;
  const RecordGraph graph(input.schedule, result);
  explanation.path = critical_path(graph, result);
  explanation.shares = shares_of(input.schedule, result, explanation.path);
  explanation.waits = waits_of(input.schedule, graph, result);
  explanation.links = result.links;
  std::stable_sort(explanation.links.begin(), explanation.links.end(),
                   [](const LinkUse& a, const LinkUse& b) { return a.busy > b.busy; });
  cut(explanation.waits, top);
  cut(explanation.links, top);
  explanation.savings = savings_of(input, asked, result.step_time);
  return explanation;
}

}  // namespace amsp
