// SPDX-License-Identifier: Apache-2.0
#include "report/reproduction_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.hpp"
#include "report/csv.hpp"
#include "report/svg_curve.hpp"
#include "report/table.hpp"

namespace amsp {
namespace {

using Json = nlohmann::ordered_json;

std::string number(const std::optional<double>& value, int digits) {
  return value ? fmt::format("{:.{}f}", *value, digits) : "";
}

std::string relative_error(const ReproducedPoint& point, double predicted,
                           const std::optional<double>& published) {
  if (point.fitted) return "fitted";
  return published ? fmt::format("{:+.1f} %", 100 * (predicted / *published - 1)) : "";
}

Table points_table(const Reproduction& reproduction) {
  Table table({{"source", "", Align::left},
               {"model", "", Align::left},
               {"system", "", Align::left},
               {"overlap", "", Align::left},
               {"GPUs"},
               {"M"},
               {"TGS"},
               {"published TGS"},
               {"TGS error"},
               {"MFU"},
               {"published MFU"},
               {"MFU error"},
               {"fits", "", Align::left}});
  for (const ReproducedPoint& point : reproduction.points)
    table.add_row(
        {point.source, point.model, point.system, point.overlap, std::to_string(point.gpus),
         std::to_string(point.micro_batches), fmt::format("{:.0f}", point.tgs),
         number(point.published_tgs, 0), relative_error(point, point.tgs, point.published_tgs),
         fmt::format("{:.3f}", point.mfu), number(point.published_mfu, 3),
         relative_error(point, point.mfu, point.published_mfu), point.fits ? "yes" : "no"});
  return table;
}

Table bands_table(const Reproduction& reproduction) {
  Table table({{"band", "", Align::left},
               {"measure", "", Align::left},
               {"points"},
               {"reached"},
               {"limit"},
               {"holds", "", Align::left}});
  for (const ReproducedBand& band : reproduction.bands)
    table.add_row({band.name, band.measure, std::to_string(band.points),
                   fmt::format("{:.3f}", band.reached), fmt::format("{:.3f}", band.limit),
                   band.holds() ? "yes" : "NO"});
  return table;
}

Json optional_json(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

std::vector<std::string> distinct(const Reproduction& reproduction,
                                  std::string ReproducedPoint::*field) {
  std::vector<std::string> values;
  for (const ReproducedPoint& point : reproduction.points)
    if (std::find(values.begin(), values.end(), point.*field) == values.end())
      values.push_back(point.*field);
  return values;
}

Plot model_plot(const Reproduction& reproduction, const std::string& model) {
  Plot plot;
  plot.title = model + ": model FLOPs utilisation, predicted (lines) and published (points)";
  plot.x_label = "GPUs";
  plot.y_label = "MFU";
  plot.log_x = true;
  for (const std::string& system : distinct(reproduction, &ReproducedPoint::system)) {
    Curve predicted{system, CurveKind::line, false, {}};
    Curve published{system + ", published", CurveKind::points, false, {}};
    for (const ReproducedPoint& point : reproduction.points) {
      if (point.model != model || point.system != system || !point.overlap.empty()) continue;
      const auto x = static_cast<double>(point.gpus);
      predicted.points.push_back({x, point.mfu, point.mfu, point.mfu});
      if (const auto mfu = point.published_mfu) published.points.push_back({x, *mfu, *mfu, *mfu});
    }
    if (!predicted.points.empty()) plot.curves.push_back(std::move(predicted));
    if (!published.points.empty()) plot.curves.push_back(std::move(published));
  }
  return plot;
}

}  // namespace

std::string reproduction_table(const Reproduction& reproduction) {
  std::string origin = "nothing is fitted to these results\n\n";
  if (const auto& fit = reproduction.fit)
    origin = fmt::format(
        "compute_efficiency {:.4f} (kernels against their measured times): with it {} of {} on {} "
        "GPUs is as in {};\nthat point is not counted, and --no-fit predicts without\n\n",
        fit->efficiency, fit->system, fit->model, fit->gpus, fit->source);
  return origin + table_text(points_table(reproduction)) + "\n" +
         table_text(bands_table(reproduction));
}

std::string reproduction_csv(const Reproduction& reproduction) {
  return csv_text(points_table(reproduction));
}

std::string reproduction_json(const Reproduction& reproduction) {
  Json points = Json::array();
  for (const ReproducedPoint& point : reproduction.points)
    points.push_back({{"source", point.source},
                      {"system", point.system},
                      {"model", point.model},
                      {"gpus", point.gpus},
                      {"micro_batches", point.micro_batches},
                      {"overlap", point.overlap},
                      {"tgs", point.tgs},
                      {"published_tgs", optional_json(point.published_tgs)},
                      {"mfu", point.mfu},
                      {"published_mfu", optional_json(point.published_mfu)},
                      {"fits", point.fits},
                      {"fitted", point.fitted},
                      {"step_time_s", reproduction.runs[point.run].step_time.value()},
                      {"manifest", Json::parse(reproduction.runs[point.run].manifest)}});
  Json bands = Json::array();
  for (const ReproducedBand& band : reproduction.bands)
    bands.push_back({{"name", band.name},
                     {"measure", band.measure},
                     {"points", band.points},
                     {"reached", band.reached},
                     {"limit", band.limit},
                     {"holds", band.holds()}});
  Json result{{"format", "amsp-reproduction-1"}, {"points", points}, {"bands", bands}};
  result["compute_efficiency"] = Json();
  if (const auto& fit = reproduction.fit)
    result["compute_efficiency"] = {{"value", fit->efficiency},
                                    {"source", fit->source},
                                    {"system", fit->system},
                                    {"model", fit->model},
                                    {"gpus", fit->gpus}};
  return result.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void write_reproduction(const Reproduction& reproduction, const std::string& directory) {
  const std::filesystem::path folder(directory);
  write_file(folder / "reproduction.json", reproduction_json(reproduction));
  write_file(folder / "reproduction.csv", reproduction_csv(reproduction));
  for (const std::string& model : distinct(reproduction, &ReproducedPoint::model))
    if (const auto svg = svg_curve(model_plot(reproduction, model)))
      write_file(folder / ("curve-" + model + ".svg"), *svg);
}

}  // namespace amsp
