// SPDX-License-Identifier: Apache-2.0
#include "scenarios/validation/ring_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.hpp"
#include "calibrate/candidate.hpp"

namespace amsp {
namespace {

// z of a two-sided 90 % interval.
constexpr double kZ90 = 1.645;
constexpr int kRounds = 20;      // of reweighting
constexpr double kHuber = 0.05;  // relative residuals beyond this count linearly
// Small messages scatter with the machine's scheduling and shapers' buckets, and matter least.
constexpr Bytes kFullTrust{768.0 * 1024};
constexpr double kRidge = 1e-7;
constexpr double kLeast = 0.25;      // share of the transfer that is left at the shortest
constexpr std::size_t kFigures = 5;  // base, l_in, l_out, 1/b_in, 1/b_nic
using Row = std::array<double, kFigures>;

struct Wire {
  double hops_inside = 0, hops_across = 0;
  Bytes port, nic;  // through the busiest rank's link, and the busiest uplink, in one direction
};

// Ring: each link carries the bus factor's share, hops as they follow each other. Pairwise: all at
// once; an uplink carries what its node's ranks send outside.
Wire wire_of(CollectiveKind kind, Bytes bytes, const GroupShape& shape) {
  const double n = shape.ranks, r = shape.ranks_per_node, nodes = shape.nodes;
  const Bytes ring = bytes * bus_factor(kind, shape.ranks);
  if (is_pairwise(kind)) {
    const bool all = kind == CollectiveKind::all_to_all;
    const Bytes nic = nodes < 2                           ? Bytes()
                      : kind == CollectiveKind::send_recv ? bytes
                                                          : bytes * ((all ? r : 1) * (n - r) / n);
    // One hop each; that inside a node is the base.
    return {0.0, nodes > 1 ? 1.0 : 0.0, ring, nic};
  }
  const double turns = kind == CollectiveKind::all_reduce ? 2 : 1;
  const double across = nodes > 1 ? turns * (nodes - 1) : 0;
  return {turns * (n - 1) - across, across, ring, nodes > 1 ? ring : Bytes()};
}

// Which of the two rates binds is known: an uplink that carries as much as a port is the slower.
Row row_of(const MeasuredCollective& measured) {
  const Wire wire = wire_of(measured.kind, measured.bytes, measured.shape);
  const bool by_nic = wire.nic > Bytes();
  return {1, wire.hops_inside, wire.hops_across, by_nic ? 0 : wire.port.value(),
          by_nic ? wire.nic.value() : 0};
}

// Solves the normal equations over the free figures by Gauss-Jordan; false when singular.
bool solve(std::array<Row, kFigures> matrix, Row right, const std::array<bool, kFigures>& free,
           Row& figures) {
  figures = {};
  for (std::size_t i = 0; i < kFigures; ++i)
    if (!free[i]) {
      for (std::size_t j = 0; j < kFigures; ++j) matrix[i][j] = matrix[j][i] = 0;
      matrix[i][i] = 1;
      right[i] = 0;
    }
  for (std::size_t i = 0; i < kFigures; ++i) {
    std::size_t pivot = i;
    for (std::size_t r = i; r < kFigures; ++r)
      if (std::abs(matrix[r][i]) > std::abs(matrix[pivot][i])) pivot = r;
    if (std::abs(matrix[pivot][i]) < 1e-12) return false;
    std::swap(matrix[i], matrix[pivot]);
    std::swap(right[i], right[pivot]);
    for (std::size_t r = 0; r < kFigures; ++r) {
      if (r == i) continue;
      const double factor = matrix[r][i] / matrix[i][i];
      for (std::size_t c = i; c < kFigures; ++c) matrix[r][c] -= factor * matrix[i][c];
      right[r] -= factor * right[i];
    }
  }
  for (std::size_t i = 0; i < kFigures; ++i) figures[i] = right[i] / matrix[i][i];
  return true;
}

// Columns are scaled to their largest entry, so that "singular" has a meaning.
struct Problem {
  std::vector<Row> rows;
  std::vector<double> trust;  // of each row, beforehand
  std::vector<double> times;
  Row scale{};
};

Row least_squares(const Problem& problem, const std::vector<double>& weights) {
  std::array<bool, kFigures> free{};
  for (std::size_t c = 0; c < kFigures; ++c) free[c] = problem.scale[c] > 0;
  std::array<Row, kFigures> matrix{};
  Row right{};
  for (std::size_t r = 0; r < problem.rows.size(); ++r)
    for (std::size_t i = 0; i < kFigures; ++i) {
      if (!free[i]) continue;
      const double a = problem.rows[r][i] / problem.scale[i] / problem.times[r];
      right[i] += weights[r] * a;
      for (std::size_t j = 0; j < kFigures; ++j)
        if (free[j])
          matrix[i][j] += weights[r] * a * problem.rows[r][j] / problem.scale[j] / problem.times[r];
    }
  // On few shapes the hops and the base cannot be told apart; this decides for the least figures.
  for (std::size_t i = 0; i < kFigures; ++i) matrix[i][i] *= 1 + kRidge;
  Row figures{};
  // Drops the most negative figure, one at a time; the base may be negative.
  while (solve(matrix, right, free, figures)) {
    const auto least = std::min_element(figures.begin() + 1, figures.end());
    if (*least >= 0) break;
    free[static_cast<std::size_t>(least - figures.begin())] = false;
  }
  for (std::size_t c = 0; c < kFigures; ++c)
    figures[c] = problem.scale[c] > 0 ? figures[c] / problem.scale[c] : 0;
  return figures;
}

double predict(const Row& row, const Row& figures) {
  double time = 0;
  for (std::size_t c = 0; c < kFigures; ++c) time += row[c] * figures[c];
  return time;
}

RingFit fit_kind(CollectiveKind kind, const Problem& problem) {
  std::vector<double> weights = problem.trust;
  Row figures{};
  for (int round = 0; round < kRounds; ++round) {
    figures = least_squares(problem, weights);
    for (std::size_t r = 0; r < weights.size(); ++r) {
      const double residual = std::abs(predict(problem.rows[r], figures) / problem.times[r] - 1);
      weights[r] = problem.trust[r] * (residual <= kHuber ? 1 : kHuber / residual);
    }
  }
  for (std::size_t c : {std::size_t{3}, std::size_t{4}})
    if (problem.scale[c] > 0 && figures[c] <= 0)
      throw InputError(
          fmt::format("the measured {} times do not grow with the size", name_of(kind)));
  double squares = 0, trusted = 0;
  for (double weight : weights) trusted += weight;
  for (std::size_t r = 0; r < weights.size(); ++r)
    squares += weights[r] * std::pow(predict(problem.rows[r], figures) / problem.times[r] - 1, 2);
  const auto rate = [](double inverse) { return Bandwidth(inverse > 0 ? 1 / inverse : 0); };
  return {Seconds(figures[0]),
          Seconds(figures[1]),
          Seconds(figures[2]),
          rate(figures[3]),
          rate(figures[4]),
          std::sqrt(squares / trusted),
          static_cast<int>(weights.size())};
}

}  // namespace

RingModel::RingModel(const std::vector<MeasuredCollective>& rows) {
  std::map<CollectiveKind, Problem> problems;
  for (const MeasuredCollective& measured : rows) {
    Problem& problem = problems[measured.kind];
    problem.rows.push_back(row_of(measured));
    problem.times.push_back(measured.time.value());
    problem.trust.push_back(std::min(1.0, measured.bytes / kFullTrust));
    for (std::size_t c = 0; c < kFigures; ++c)
      problem.scale[c] = std::max(problem.scale[c], problem.rows.back()[c]);
  }
  for (const auto& [kind, problem] : problems) fits_[kind] = fit_kind(kind, problem);
}

CollectiveEstimate RingModel::estimate(CollectiveKind kind, Bytes bytes, Dtype,
                                       const GroupShape& shape) const {
  CollectiveEstimate result;
  result.algorithm = is_pairwise(kind) ? "pairwise" : "ring";
  result.protocol = "Simple";
  result.range = PredictionRange::measured;
  if (shape.ranks < 2) return result;
  const auto found = fits_.find(kind);
  if (found == fits_.end())
    throw InputError(fmt::format("{} was not measured on this machine", name_of(kind)));
  const RingFit& fit = found->second;
  const Wire wire = wire_of(kind, bytes, shape);
  const Seconds latency =
      fit.base + fit.hop_inside * wire.hops_inside + fit.hop_across * wire.hops_across;
  if (fit.port > Bandwidth()) result.fluid = wire.port / fit.port;
  if (wire.nic > Bytes() && fit.nic > Bandwidth())
    result.fluid = std::max(result.fluid, wire.nic / fit.nic);
  // A negative base shortens the transfer, by at most what makes sense for a token bucket.
  result.latency = std::max(latency, Seconds());
  if (latency < Seconds()) result.fluid = std::max(result.fluid + latency, result.fluid * kLeast);
  result.time = result.latency + result.fluid;
  result.low = result.time * std::max(0.0, 1 - kZ90 * fit.deviation);
  result.high = result.time * (1 + kZ90 * fit.deviation);
  return result;
}

AchievableRates RingModel::achievable() const {
  AchievableRates rates;
  for (const auto& [kind, fit] : fits_) {
    rates.gpu_intra = std::max(rates.gpu_intra, fit.port);
    rates.nic = std::max(rates.nic, fit.nic);
  }
  return rates;
}

}  // namespace amsp
