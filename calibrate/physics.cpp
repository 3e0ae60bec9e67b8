// SPDX-License-Identifier: Apache-2.0
#include "calibrate/physics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "calibrate/nccl_algorithm.hpp"
#include "calibrate/pair_channels.hpp"

namespace amsp {
namespace {

double share_of_port(CollectiveKind kind, const GroupShape& shape, const Hardware& hardware) {
  if (kind == CollectiveKind::send_recv) return hardware.pair_share;
  if (is_pairwise(kind)) {  // one link for each partner on the node, at most the whole port
    const double links = std::max(1, shape.ranks_per_node - 1) * hardware.pair_share;
    return std::min(links, 1 / hardware.ring_share);
  }
  const auto ranks = static_cast<std::size_t>(shape.ranks_per_node);
  return ranks < hardware.port_share.size() ? hardware.port_share[ranks] : 1;
}

double share_of_nic(CollectiveKind kind, const GroupShape& shape, const Hardware& hardware) {
  const bool pair = kind == CollectiveKind::send_recv && shape.nodes > 1;
  return pair ? share_of_pair(shape, hardware) : 1;
}

Seconds transfer_time(const Candidate& c, CollectiveKind kind, Bytes bytes, const GroupShape& shape,
                      const Hardware& hardware, const PhysicsParameters& p) {
  const Streaming streaming = c.algorithm->streaming();
  const WireBytes wire = c.algorithm->wire_bytes(kind, bytes, shape, nics_used(shape, hardware));
  const Bandwidth port(p[streaming.port] * share_of_port(kind, shape, hardware));
  const Bandwidth nic(p[streaming.nic] * share_of_nic(kind, shape, hardware));
  Seconds time = std::max(wire.port / port, wire.nic / nic);
  time = c.algorithm->stretched(time, shape, p);
  if (c.protocol == Protocol::simple) return time;
  // Half of LL's words are flags, LL128's 8 of 128 bytes.
  time = c.protocol == Protocol::ll ? time * 2 : time / p[Parameter::share_ll128];
  if (shape.nodes == 1) return time;
  const NcclCall call{c.protocol, kind, bytes, shape, nics_used(shape, hardware)};
  return std::max(time, c.algorithm->protocol_limit(call, p));
}

}  // namespace

int nics_used(const GroupShape& shape, const Hardware& hardware) {
  return shape.nics_per_node > 0 ? shape.nics_per_node : hardware.nics_per_node;
}

Seconds of_protocol(const PhysicsParameters& p, Parameter ll, Protocol protocol) {
  return Seconds(p.values[static_cast<std::size_t>(ll) + static_cast<std::size_t>(protocol)]);
}

std::vector<Candidate> candidates(CollectiveKind kind, const GroupShape& shape,
                                  const Hardware& hardware) {
  std::vector<Candidate> all;
  for (const Algorithm algorithm : nccl_algorithms()) {
    if (algorithm->since() > hardware.nccl) continue;
    const Protocols offered = algorithm->offered(kind, shape, hardware);
    if (!offered.ll && !offered.ll128 && !offered.simple) continue;
    // Stated ones come last.
    if (algorithm->only_where_stated() && hardware.collnet == CollnetUse::always) all.clear();
    if (offered.ll) all.push_back({algorithm, Protocol::ll});
    if (offered.ll128) all.push_back({algorithm, Protocol::ll128});
    if (offered.simple) all.push_back({algorithm, Protocol::simple});
  }
  return all;
}

PhysicsTime candidate_time(const Candidate& c, CollectiveKind kind, Bytes bytes,
                           const GroupShape& shape, const Hardware& hardware,
                           const PhysicsParameters& p) {
  if (shape.ranks < 2) return {c, Seconds(0), Seconds(0), 0};
  const Seconds transfer = transfer_time(c, kind, bytes, shape, hardware, p);
  const NcclCall call{c.protocol, kind, bytes, shape, nics_used(shape, hardware)};
  return {c, c.algorithm->latency(call, transfer, p), transfer, 0};
}

namespace {

// Logarithm of the fitted factor on NCCL's modelled time.
double choice_bias(const Candidate& c, const NcclView& view, const GroupShape& shape,
                   const PhysicsParameters& p) {
  double factor = 1;
  if (c.protocol == Protocol::ll) factor *= p[Parameter::choose_ll];
  if (c.protocol == Protocol::ll128) factor *= p[Parameter::choose_ll128];
  if (const auto own = c.algorithm->choice_factor(shape)) {
    factor *= view.latency_share + (1 - view.latency_share) * p[*own];
  }
  return std::log(factor);
}

// The exponent of odds over ratios of modelled times: each with an error of Gumbel's distribution.
double sharpness(ChoiceDoubt doubt) {
  constexpr double pi_over_root_six = 1.2825498;
  return pi_over_root_six / doubt.log_deviation;
}

}  // namespace

ChoiceTable choice_table(CollectiveKind kind, Bytes bytes, const GroupShape& shape,
                         const Hardware& hardware) {
  ChoiceTable table{candidates(kind, shape, hardware), {}};
  table.views.reserve(table.candidates.size());
  const NcclGraph graph = expected_graph(shape, hardware.gpu_rate, hardware.nic_rate,
                                         nics_used(shape, hardware), hardware.system.generation);
  const int nics = nics_used(shape, hardware);
  for (const Candidate& c : table.candidates) {
    const NcclCall call{c.protocol, kind, bytes, shape, nics};
    table.views.push_back(c.algorithm->view(call, graph, hardware.system));
  }
  return table;
}

namespace {

// Odds of each candidate, the likeliest one's 1.
void choice_odds(const ChoiceTable& table, const GroupShape& shape, const PhysicsParameters& p,
                 ChoiceDoubt doubt, std::vector<double>& odds) {
  odds.resize(table.candidates.size());
  double least = HUGE_VAL;
  for (std::size_t i = 0; i < odds.size(); ++i) {
    const NcclView& view = table.views[i];
    odds[i] = view.log_time + choice_bias(table.candidates[i], view, shape, p);
    least = std::min(least, odds[i]);
  }
  const double exponent = sharpness(doubt);
  for (double& of_one : odds) of_one = std::exp(-exponent * (of_one - least));
}

}  // namespace

PhysicsTime physics_time(const ChoiceTable& table, CollectiveKind kind, Bytes bytes,
                         const GroupShape& shape, const Hardware& hardware,
                         const PhysicsParameters& p, ChoiceDoubt doubt) {
  thread_local std::vector<double> odds;  // kept, since fits come here millions of times
  choice_odds(table, shape, p, doubt, odds);
  double weight_sum = 0, log_time = 0, log_square = 0, log_share = 0, best = -1;
  PhysicsTime result;
  for (std::size_t i = 0; i < table.candidates.size(); ++i) {
    const double weight = odds[i];
    if (weight < 1e-3) continue;
    const Candidate& c = table.candidates[i];
    const PhysicsTime time = candidate_time(c, kind, bytes, shape, hardware, p);
    weight_sum += weight;
    const double log_total = std::log(time.total().value());
    log_time += weight * log_total;
    log_square += weight * log_total * log_total;
    log_share += weight * (time.latency / time.total());
    if (weight > best) {
      best = weight;
      result.candidate = c;
    }
  }
  const double mean = log_time / weight_sum;
  const double total = std::exp(mean);
  result.choice_deviation = std::sqrt(std::max(0.0, log_square / weight_sum - mean * mean));
  result.latency = Seconds(total * log_share / weight_sum);
  result.transfer = Seconds(total) - result.latency;
  return result;
}

std::vector<double> choice_mixture(CollectiveKind kind, Bytes bytes, const GroupShape& shape,
                                   const Hardware& hardware, const PhysicsParameters& p) {
  const ChoiceTable table = choice_table(kind, bytes, shape, hardware);
  std::vector<double> odds;
  choice_odds(table, shape, p, {}, odds);
  const double sum = std::accumulate(odds.begin(), odds.end(), 0.0);
  const auto& algorithms = nccl_algorithms();
  constexpr std::size_t protocols = 3;
  std::vector<double> mixture(protocols * algorithms.size(), 0.0);
  for (std::size_t i = 0; i < odds.size(); ++i) {
    const Candidate& c = table.candidates[i];
    const auto algorithm = std::find(algorithms.begin(), algorithms.end(), c.algorithm);
    const auto place = static_cast<std::size_t>(algorithm - algorithms.begin());
    mixture[protocols * place + static_cast<std::size_t>(c.protocol)] = std::sqrt(odds[i] / sum);
  }
  return mixture;
}

PhysicsTime physics_time(CollectiveKind kind, Bytes bytes, const GroupShape& shape,
                         const Hardware& hardware, const PhysicsParameters& p, ChoiceDoubt doubt) {
  return physics_time(choice_table(kind, bytes, shape, hardware), kind, bytes, shape, hardware, p,
                      doubt);
}

}  // namespace amsp
