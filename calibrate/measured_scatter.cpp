// SPDX-License-Identifier: Apache-2.0
#include "calibrate/measured_scatter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "base/units_text.hpp"

namespace amsp {
namespace {

using Point =
    std::tuple<CollectiveKind, GroupShape, long, std::optional<Algorithm>, std::optional<Protocol>>;
using FileLine = std::pair<std::string, std::string>;  // file, line

double difference(double one, double other) { return std::exp(std::abs(one - other)) - 1; }

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace

long size_class(const Observation& row) { return std::lround(100 * std::log2(row.bytes.value())); }

std::vector<Scatter> measured_scatter(const std::vector<Observation>& rows) {
  std::map<Point, std::map<FileLine, std::vector<double>>> points;
  for (const Observation& row : rows) {
    points[{row.kind, row.shape, size_class(row), row.forced_algorithm, row.forced_protocol}]
          [{row.source, row.place}]
              .push_back(std::log(row.time.value()));
  }
  std::vector<Scatter> all;
  for (const auto& [point, places] : points) {
    const Bytes bytes(std::exp2(static_cast<double>(std::get<long>(point)) / 100));
    const auto add = [&, kind = std::get<CollectiveKind>(point)](
                         bool two, double value, const FileLine& one, const FileLine& other) {
      all.push_back({kind, bytes.value() >= 0.99 * large_size.value(), two, value,
                     fmt::format("{} {}", one.first, one.second) +
                         (two ? fmt::format(" and {} {}", other.first, other.second) : "")});
    };
    for (auto one = places.begin(); one != places.end(); ++one) {
      const auto& times = one->second;
      for (std::size_t i = 1; i < times.size(); ++i) {
        add(false, difference(times[0], times[i]), one->first, one->first);
      }
      for (auto other = std::next(one); other != places.end(); ++other) {
        add(true, difference(mean(times), mean(other->second)), one->first, other->first);
      }
    }
  }
  return all;
}

}  // namespace amsp
