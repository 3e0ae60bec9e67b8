// SPDX-License-Identifier: Apache-2.0
#include "report/collective_figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "base/terminal.hpp"
#include "report/svg_curve.hpp"

namespace amsp {
namespace {

constexpr std::size_t most_series = 8;  // as many as curve.gp has colours

using Series = std::pair<CollectiveKind, GroupShape>;

double bus_bandwidth(const Observation& row, Seconds time) {
  return (row.bytes / time).value() / 1e9 * bus_factor(row.kind, row.shape.ranks);
}

std::string title_of(const Series& series) {
  const auto& [kind, shape] = series;
  return fmt::format("{}, {} ranks{}", name_of(kind), shape.ranks,
                     shape.nodes > 1 ? fmt::format(" on {} nodes", shape.nodes) : "");
}

CollectiveEstimate predicted(const Observation& row, const CollectiveModel& model) {
  return model.estimate(row.kind, row.bytes, Dtype::fp32, row.shape);
}

// Sizes from the least to the greatest measured one, eight an octave.
std::vector<Bytes> sizes_between(const std::vector<Observation>& rows) {
  double least = HUGE_VAL, most = 0;
  for (const Observation& row : rows) {
    least = std::min(least, row.bytes.value());
    most = std::max(most, row.bytes.value());
  }
  const int steps = std::max(1, static_cast<int>(std::ceil(8 * std::log2(most / least))));
  std::vector<Bytes> sizes;
  for (int i = 0; i <= steps; ++i)
    sizes.emplace_back(least * std::pow(most / least, static_cast<double>(i) / steps));
  return sizes;
}

// The curves of one series: above in bus bandwidth, below as error of the model. A measurement at
// the end of the interval has the error time / end - 1.
struct SeriesCurves {
  Curve model, points, band, errors;
};

SeriesCurves curves_of(const std::vector<Observation>& rows, const CollectiveModel& model,
                       const std::string& title, int colour) {
  SeriesCurves curves{{title, CurveKind::line, true, {}, colour},
                      {"", CurveKind::points, false, {}, colour},
                      {"", CurveKind::line, true, {}, colour},
                      {"", CurveKind::points, false, {}, colour}};
  Observation at = rows.front();
  for (const Bytes bytes : sizes_between(rows)) {
    at.bytes = bytes;
    const CollectiveEstimate estimate = predicted(at, model);
    curves.model.points.push_back({bytes.value(), bus_bandwidth(at, estimate.time),
                                   bus_bandwidth(at, estimate.high),
                                   bus_bandwidth(at, estimate.low)});
    curves.band.points.push_back({bytes.value(), 0, 100 * (estimate.time / estimate.high - 1),
                                  100 * (estimate.time / estimate.low - 1)});
  }
  for (const Observation& row : rows) {
    const double busbw = bus_bandwidth(row, row.time);
    curves.points.points.push_back({row.bytes.value(), busbw, busbw, busbw});
    const double error = 100 * (predicted(row, model).time / row.time - 1);
    curves.errors.points.push_back({row.bytes.value(), error, error, error});
  }
  return curves;
}

// Width and height of gnuplot's drawing.
std::pair<double, double> size_of(const std::string& svg) {
  const std::string mark = "viewBox=\"0 0 ";
  const auto begin = svg.find(mark);
  double width = 0, height = 0;
  if (begin != std::string::npos) {
    const char* text = svg.c_str() + begin + mark.size();
    char* end = nullptr;
    width = std::strtod(text, &end);
    height = std::strtod(end, nullptr);
  }
  return {width, height};
}

// gnuplot's drawing without its XML head, as a part of a taller one.
std::string body_of(const std::string& svg, double y) {
  const auto begin = svg.find("<svg");
  std::string body = svg.substr(begin == std::string::npos ? 0 : begin);
  const auto [width, height] = size_of(svg);
  // gnuplot's "dynamic" drawing has no size of its own and would fill the whole of the outer one.
  const auto end = body.find('>');
  const bool sized = body.substr(0, end).find(" height=") != std::string::npos;
  return body.insert(
      4, fmt::format(" y=\"{}\"{}", y,
                     sized ? "" : fmt::format(" width=\"{}\" height=\"{}\"", width, height)));
}

std::string stacked(const std::string& above, const std::string& below) {
  const auto [width, height] = size_of(above);
  const auto [other_width, other_height] = size_of(below);
  return fmt::format(
             "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<svg width=\"{0}\" height=\"{1}\" "
             "viewBox=\"0 0 {0} {1}\" xmlns=\"http://www.w3.org/2000/svg\">\n",
             std::max(width, other_width), height + other_height) +
         body_of(above, 0) + body_of(below, height) + "</svg>\n";
}

}  // namespace

std::optional<std::string> comparison_figure(const std::vector<Observation>& rows,
                                             const CollectiveModel& model) {
  std::map<Series, std::vector<Observation>> series;
  for (const Observation& row : rows) series[{row.kind, row.shape}].push_back(row);
  std::vector<const std::pair<const Series, std::vector<Observation>>*> drawn;
  for (const auto& entry : series) drawn.push_back(&entry);
  std::stable_sort(drawn.begin(), drawn.end(),
                   [](auto* a, auto* b) { return a->second.size() > b->second.size(); });
  if (drawn.size() > most_series) {
    note(fmt::format("the figure shows {} of {} series: those with the most rows", most_series,
                     drawn.size()));
    drawn.resize(most_series);
  }
  // The key's order: by collective, then from the smallest group to the largest.
  std::sort(drawn.begin(), drawn.end(), [](auto* a, auto* b) { return a->first < b->first; });
  Plot plot{"Measured (circles), model (line) and its 90 % interval (band)",
            "",
            "bus bandwidth [GB/s]",
            true,
            true,
            {}};
  Plot residuals{"", "size of the whole buffer", "model / measured time - 1 [%]", true, false, {}};
  plot.bytes_x = residuals.bytes_x = residuals.signed_y = true;
  plot.width = residuals.width = 1000;
  residuals.height = 340;
  for (const auto* entry : drawn) {
    const int colour = static_cast<int>(plot.curves.size()) / 2 + 1;
    SeriesCurves curves = curves_of(entry->second, model, title_of(entry->first), colour);
    plot.curves.push_back(std::move(curves.model));
    plot.curves.push_back(std::move(curves.points));
    residuals.curves.push_back(std::move(curves.band));
    residuals.curves.push_back(std::move(curves.errors));
  }
  const auto above = svg_curve(plot);
  if (!above) return std::nullopt;
  const auto below = svg_curve(residuals);
  return below ? stacked(*above, *below) : *above;
}

}  // namespace amsp
