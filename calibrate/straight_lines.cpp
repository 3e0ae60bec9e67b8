// SPDX-License-Identifier: Apache-2.0
#include "calibrate/straight_lines.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace amsp {
namespace {

// Logarithms of the times at each place; several at one place count as their geometric mean.
using Curve = std::map<double, std::vector<double>>;

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

std::optional<Seconds> between(const Curve& curve, double at) {
  const auto above = curve.lower_bound(at);
  if (above == curve.end()) return std::nullopt;
  if (above->first == at) return Seconds(std::exp(mean(above->second)));
  if (above == curve.begin()) return std::nullopt;
  const auto below = std::prev(above);
  const double low = mean(below->second), high = mean(above->second);
  const double part = (at - below->first) / (above->first - below->first);
  return Seconds(std::exp(low + part * (high - low)));
}

double size_of(Bytes bytes) { return std::log2(bytes.value()); }

void add(const Observation& row, Curve& curve) {
  curve[size_of(row.bytes)].push_back(std::log(row.time.value()));
}

bool same_choice(const Observation& a, const Observation& b) {
  return a.kind == b.kind && a.forced_algorithm == b.forced_algorithm &&
         a.forced_protocol == b.forced_protocol;
}

}  // namespace

double quarter_octave(Bytes bytes) { return std::round(std::log2(bytes.value()) * 4) / 4; }

std::optional<Seconds> line_between_sizes(const std::vector<Observation>& rows,
                                          const Observation& row) {
  Curve run;
  for (const Observation& other : rows) {
    if (!same_choice(other, row) || other.shape != row.shape || other.source != row.source)
      continue;
    if (quarter_octave(other.bytes) != quarter_octave(row.bytes)) add(other, run);
  }
  return between(run, size_of(row.bytes));
}

std::optional<Seconds> line_between_scales(const std::vector<Observation>& rows,
                                           const Observation& row) {
  std::map<int, Curve> scales;
  const int domain = correction_domain(row.shape);
  for (const Observation& other : rows) {
    if (!same_choice(other, row) || correction_domain(other.shape) != domain) continue;
    if (other.shape.ranks == row.shape.ranks) continue;
    const bool alike = other.shape.ranks_per_node == row.shape.ranks_per_node &&
                       other.shape.nics_per_node == row.shape.nics_per_node;
    if (domain == 0 || alike) add(other, scales[other.shape.ranks]);
  }
  Curve curve;
  for (const auto& [ranks, of_scale] : scales) {
    const auto time = between(of_scale, size_of(row.bytes));
    if (time) curve[std::log2(ranks)].push_back(std::log(time->value()));
  }
  return between(curve, std::log2(row.shape.ranks));
}

std::optional<MeasuredLine> measured_line(const std::vector<Observation>& rows,
                                          const GroupShape& shape, Bytes bytes) {
  std::map<double, std::pair<std::vector<double>, std::vector<double>>> sizes;
  for (const Observation& row : rows) {
    if (row.shape != shape) continue;
    auto& [bytes_of, time_of] = sizes[quarter_octave(row.bytes)];
    bytes_of.push_back(size_of(row.bytes));
    time_of.push_back(std::log(row.time.value()));
  }
  if (sizes.empty()) return std::nullopt;
  Curve curve;
  for (const auto& [name, size] : sizes) curve[mean(size.first)] = {mean(size.second)};
  const double asked = size_of(bytes);
  const double at = std::clamp(asked, curve.begin()->first, curve.rbegin()->first);
  const auto time = between(curve, at);
  if (!time) return std::nullopt;
  const auto above = curve.lower_bound(at);
  const auto below = above->first == at ? above : std::prev(above);
  return MeasuredLine{at == asked ? bytes : Bytes(std::exp2(at)), *time,
                      Bytes(std::exp2(below->first)), Bytes(std::exp2(above->first))};
}

}  // namespace amsp
