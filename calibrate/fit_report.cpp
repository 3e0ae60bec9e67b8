// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/counted.hpp"
#include "base/units_text.hpp"
#include "calibrate/cross_validation.hpp"
#include "calibrate/fit_stage.hpp"
#include "calibrate/kernel_report.hpp"

namespace amsp {
namespace {

std::string value_text(Parameter parameter, double value) {
  switch (unit_of(parameter)) {
    case ParameterUnit::seconds:
      return human(Seconds(value));
    case ParameterUnit::bytes_per_second:
      return human(Bandwidth(value));
    case ParameterUnit::bytes:
      return human(Bytes(value));
    case ParameterUnit::ratio:
      break;
  }
  return fmt::format("{:.3g}", value);
}

// Parameters of which the rows say at least as much as was known before them: together with the
// prior they leave at most half of its variance. A parameter that was held has none.
constexpr double kTold = 0.7071;  // 1 / sqrt(2)

void write_parameters(const KindFit& fit, const PhysicsParameters& system, std::string& text) {
  const FitStage stage = kind_stage(system, fit.kind);
  for (std::size_t j = 0; j < parameter_count; ++j) {
    const auto parameter = static_cast<Parameter>(j);
    const double deviation = std::sqrt(std::max(0.0, fit.covariance[j][j]));
    if (deviation == 0 || deviation > kTold * stage.width[j]) continue;
    const double value = fit.parameters[parameter];
    const double factor = std::exp(CurveValue::z90 * deviation);
    text += fmt::format("    {:<14} {:>12}  [{}, {}]\n", name_of(parameter),
                        value_text(parameter, value), value_text(parameter, value / factor),
                        value_text(parameter, value * factor));
  }
}

// Public logs of one machine are fitted within some 5 % in the median, of single machines within
// 15 %; twice that is no measurement of one machine.
constexpr double kBadFit = 0.3;

std::string row_text(const Observation& row, double error, double trust) {
  return fmt::format(
      "    {:<14} {:>6} ranks {:>4} {:<5} {:>10} {:>10}  {:+6.1f} %  trust {:.2f}  {} {}\n",
      name_of(row.kind), row.shape.ranks, row.shape.nodes, row.shape.nodes == 1 ? "node" : "nodes",
      human(row.bytes), human(row.time), 100 * error, trust, row.source, row.place);
}

// As everywhere: above 0 the model is slower than the machine was.
void write_rows(const CollectiveCalibration& collectives, const KindFit& fit, bool all_rows,
                std::string& text) {
  bool first = true;
  for (std::size_t i = 0; i < fit.rows.size(); ++i) {
    const Observation& row = fit.rows[i];
    if (!all_rows && fit.trust[i] > 0.25) continue;
    const CurveValue value = collectives.at(row.kind, row.bytes, row.shape);
    if (first)
      text += all_rows ? "  rows (error: model / measured - 1):\n"
                       : "  outliers (error: model / measured - 1):\n";
    first = false;
    text += row_text(row, value.time / row.time - 1, fit.trust[i]);
  }
}

ErrorSummary errors_of(const CollectiveCalibration& collectives, const KindFit& fit, bool large) {
  std::vector<HeldOutRow> rows;
  for (const Observation& row : fit.rows) {
    if ((row.bytes >= large_size) != large) continue;
    HeldOutRow result;
    result.log_error = std::log(collectives.at(row.kind, row.bytes, row.shape).time / row.time);
    rows.push_back(std::move(result));
  }
  return summarise(rows);
}

std::string quality(const CollectiveCalibration& collectives, const KindFit& fit, bool large) {
  const ErrorSummary summary = errors_of(collectives, fit, large);
  if (summary.rows == 0) return "no rows";
  return fmt::format("{}, error of the fit: median {:.1f} %, p95 {:.1f} %",
                     counted(summary.rows, "row"), 100 * summary.median, 100 * summary.p95);
}

}  // namespace

std::vector<std::string> fit_warnings(const Calibration& calibration) {
  std::vector<std::string> warnings;
  if (!calibration.collectives) return warnings;
  for (const KindFit& fit : calibration.collectives->kinds)
    for (const bool large : {true, false}) {
      const ErrorSummary summary = errors_of(*calibration.collectives, fit, large);
      if (summary.rows == 0 || summary.median <= kBadFit) continue;
      warnings.push_back(fmt::format(
          "the fit errs by {:.0f} % in the median at {} {} 16 MiB ({}): are all times in their "
          "unit, sizes in bytes, and all logs of one cluster? --residuals lists the rows",
          100 * summary.median, name_of(fit.kind), large ? "from" : "below",
          counted(summary.rows, "row")));
      break;
    }
  return warnings;
}

std::string fit_report(const Calibration& calibration, bool all_rows) {
  std::string text = fmt::format("cluster: {}\n", calibration.made_on().name);
  if (calibration.own_cluster) {
    for (const std::string& assumption : calibration.own_cluster->assumptions) {
      text += "  assumed: " + assumption + "\n";
    }
  }
  for (const CalibrationSource& source : calibration.sources) {
    text += fmt::format("source: {} ({}, {})\n", source.file, source.note,
                        counted(source.rows_used, "row"));
  }
  for (const RefusedRow& row : calibration.refused) {
    text += fmt::format("refused: {}: {}: {}\n", row.file, row.place, row.reason);
  }
  if (calibration.collectives) {
    for (const KindFit& fit : calibration.collectives->kinds) {
      text += fmt::format("{}\n  from 16 MiB: {}\n  below:       {}\n", name_of(fit.kind),
                          quality(*calibration.collectives, fit, true),
                          quality(*calibration.collectives, fit, false));
      // As many as the correction needs.
      if (fit.rows.size() < 4)
        text += fmt::format(
            "  too few points ({}, a fit needs 4): predictions stay near NCCL's constants and data "
            "sheets\n",
            fit.rows.size());
      text += "  parameters (90 % interval):\n";
      write_parameters(fit, calibration.collectives->system.parameters, text);
      write_rows(*calibration.collectives, fit, all_rows, text);
    }
  }
  if (calibration.kernels) text += kernel_report(*calibration.kernels, all_rows);
  return text;
}

}  // namespace amsp
