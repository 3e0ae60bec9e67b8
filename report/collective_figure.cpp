// SPDX-License-Identifier: Apache-2.0
#include "report/collective_figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "report/svg_curve.hpp"

namespace amsp {
namespace {

using Series = std::pair<CollectiveKind, GroupShape>;

double bus_bandwidth(const Observation& row, Seconds time) {
  return (row.bytes / time).value() / 1e9 * bus_factor(row.kind, row.shape.ranks);
}

CollectiveEstimate predicted(const Observation& row, const CollectiveModel& model) {
  return model.estimate(row.kind, row.bytes, Dtype::fp32, row.shape);
}

// The model's line from the least to the greatest measured size, eight points an octave.
Curve model_line(const std::vector<Observation>& rows, const CollectiveModel& model,
                 const std::string& title) {
  Curve curve{title, CurveKind::line, true, {}};
  Observation at = rows.front();
  double least = HUGE_VAL, most = 0;
  for (const Observation& row : rows) {
    least = std::min(least, row.bytes.value());
    most = std::max(most, row.bytes.value());
  }
  const int steps = std::max(1, static_cast<int>(std::ceil(8 * std::log2(most / least))));
  for (int i = 0; i <= steps; ++i) {
    at.bytes = Bytes(least * std::pow(most / least, static_cast<double>(i) / steps));
    const CollectiveEstimate estimate = predicted(at, model);
    curve.points.push_back({at.bytes.value(), bus_bandwidth(at, estimate.time),
                            bus_bandwidth(at, estimate.high), bus_bandwidth(at, estimate.low)});
  }
  return curve;
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
  if (drawn.size() > 12) drawn.resize(12);
  Plot plot{"Measured (circles), model (line) and its 90 % interval (band)",
            "size of the whole buffer",
            "bus bandwidth [GB/s]",
            true,
            true,
            {}};
  Plot residuals{
      "Residuals", "size of the whole buffer", "model / measured time - 1 [%]", true, false, {}};
  plot.bytes_x = residuals.bytes_x = residuals.signed_y = true;
  for (const auto* entry : drawn) {
    const auto& [kind, shape] = entry->first;
    const std::string title =
        fmt::format("{}, {} ranks{}", name_of(kind), shape.ranks,
                    shape.nodes > 1 ? fmt::format(" on {} nodes", shape.nodes) : "");
    const int colour = static_cast<int>(residuals.curves.size()) + 1;
    Curve points{"", CurveKind::points, false, {}, colour};
    Curve errors{title, CurveKind::points, false, {}, colour};
    for (const Observation& row : entry->second) {
      const double busbw = bus_bandwidth(row, row.time);
      points.points.push_back({row.bytes.value(), busbw, busbw, busbw});
      const double error = 100 * (predicted(row, model).time / row.time - 1);
      errors.points.push_back({row.bytes.value(), error, error, error});
    }
    plot.curves.push_back(model_line(entry->second, model, title));
    plot.curves.back().colour = colour;
    plot.curves.push_back(std::move(points));
    residuals.curves.push_back(std::move(errors));
  }
  const auto above = svg_curve(plot);
  if (!above) return std::nullopt;
  const auto below = svg_curve(residuals);
  return below ? stacked(*above, *below) : *above;
}

}  // namespace amsp
