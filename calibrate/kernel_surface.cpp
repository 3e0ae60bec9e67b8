// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

#include "calibrate/kernel_calibration.hpp"
#include "calibrate/least_squares.hpp"

namespace amsp {
namespace {

struct Shape {
  double x, y, flops;
};

Shape shape_of(const Kernel& kernel) {
  const double flops = flops_of(kernel).value();
  if (kernel.kind == KernelClass::gemm) {
    const double y = std::sqrt(static_cast<double>(kernel.n) * static_cast<double>(kernel.k));
    return {static_cast<double>(kernel.m), y, flops};
  }
  return {static_cast<double>(kernel.sequence_length),
          static_cast<double>(kernel.sequences) * static_cast<double>(kernel.heads), flops};
}

constexpr std::array<const char*, 4> names{"floor", "rate", "half_x", "half_y"};

double model(const Shape& shape, double peak, std::span<const double> logs) {
  const double fill =
      (1 + std::exp(logs[2]) / shape.x) * (1 + std::exp(logs[3]) / shape.y) / std::exp(logs[1]);
  return std::max(std::exp(logs[0]), shape.flops * std::max(fill, 1 / peak));
}

std::vector<double> coordinates(const Shape& shape) {
  return {std::log(shape.x), std::log(shape.y)};
}

}  // namespace

KernelSurface::KernelSurface(std::vector<KernelTime> rows, FlopRate peak)
    : rows_(std::move(rows)), peak_(peak) {
  assert(!rows_.empty());
  for (const KernelTime& row : rows_) trust_.push_back(row.trust);
}

KernelSurface KernelSurface::fit(std::vector<KernelTime> rows, FlopRate peak) {
  KernelSurface surface(std::move(rows), peak);
  LeastSquaresProblem problem;
  // Start: a 5 us floor (kernel launch), 80 % of the peak, half speed at 128 (one tile) each way.
  problem.prior = {std::log(5e-6), std::log(0.8 * peak.value()), std::log(128.0), std::log(128.0)};
  problem.width = {2.0, 0.3, 1.5, 1.5};
  if (surface.rows_.front().kernel.kind != KernelClass::gemm) problem.prior[3] = std::log(8.0);
  problem.rows = surface.rows_.size();
  std::vector<Shape> shapes;
  for (const KernelTime& row : surface.rows_) shapes.push_back(shape_of(row.kernel));
  problem.residuals = [&](std::span<const double> p, std::span<double> r) {
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      r[i] = std::log(surface.rows_[i].time.value() / model(shapes[i], peak.value(), p));
    }
  };
  const LeastSquaresSolution solution = solve(problem);
  for (std::size_t j = 0; j < names.size(); ++j) {
    surface.parameters_.push_back(
        {names[j], std::exp(solution.parameters[j]), solution.standard_error[j]});
  }
  surface.correct();
  return surface;
}

KernelSurface KernelSurface::read(std::vector<KernelTime> rows, FlopRate peak,
                                  const JsonValue& json) {
  KernelSurface surface(std::move(rows), peak);
  json.accept_keys({"parameters", "correction"});
  const JsonValue parameters = json.at("parameters");
  for (const char* name : names) {
    const JsonValue parameter = parameters.at(name);
    parameter.accept_keys({"value", "relative_error"});
    const std::string key = name;
    double value = 0;
    if (key == "floor") value = parameter.at("value").as_seconds().value();
    if (key == "rate") value = parameter.at("value").as_flop_rate().value();
    if (key.starts_with("half")) value = parameter.at("value").as_number(1e-12, 1e12);
    if (!(value > 0)) parameter.at("value").fail("must be positive");
    surface.parameters_.push_back({key, value, parameter.at("relative_error").as_number(0, 100)});
  }
  const JsonValue correction = json.at("correction");
  correction.accept_keys({"length", "amplitude", "noise"});
  Kernel3 kernel;
  for (const JsonValue& length : correction.at("length").items()) {
    kernel.length.push_back(length.as_number(1e-6, 1e6));
  }
  if (kernel.length.size() != 2) correction.at("length").fail("needs two lengths");
  kernel.amplitude = correction.at("amplitude").as_number(0, 10);
  kernel.noise = correction.at("noise").as_number(1e-6, 10);
  surface.correction_ = Kriging(surface.correction_points(), kernel);
  return surface;
}

Seconds KernelSurface::plain(const Kernel& kernel) const {
  std::array<double, 4> logs{};
  for (std::size_t j = 0; j < logs.size(); ++j) logs[j] = std::log(parameters_[j].value);
  return Seconds(model(shape_of(kernel), peak_.value(), logs));
}

std::vector<double> KernelSurface::residuals() const {
  std::vector<double> residuals;
  for (const KernelTime& row : rows_) residuals.push_back(std::log(row.time / plain(row.kernel)));
  return residuals;
}

std::vector<Kriging::Point> KernelSurface::correction_points() const {
  const std::vector<double> values = residuals();
  std::vector<Kriging::Point> points;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const double noise_factor = trust_[i] > kernel_outlier ? 1.0 : 1 / trust_[i];
    points.push_back({{coordinates(shape_of(rows_[i].kernel))}, values[i], noise_factor});
  }
  return points;
}

// Huber's weights of how far each row is from what the others say, in units of the deviation that
// the correction would state of a row that is believed.
void KernelSurface::trust_by_neighbours() {
  constexpr double huber = 1.345;  // 95 % efficient for normal errors
  const double noise = correction_.kernel().noise;
  std::vector<double> scores;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const double own = noise * correction_.points()[i].noise_factor;
    const double all = correction_.leave_one_out_deviation()[i];
    const double curve = std::max(0.0, all * all - own * own);
    scores.push_back(std::abs(correction_.leave_one_out()[i]) / std::sqrt(curve + noise * noise));
  }
  const double scale = std::max(1.0, robust_scale(scores));
  for (std::size_t i = 0; i < scores.size(); ++i) {
    trust_[i] = std::min(1.0, huber * scale / scores[i]);
  }
}

// Kriging of the residuals; lengths and amplitude chosen here, outliers weighed down.
void KernelSurface::correct() {
  for (int round = 0; round < 3; ++round) {
    correction_ = fit_kriging(correction_points(), {{0.5, 1.0, 2.0, 4.0}, {0.25, 0.5, 1.0, 2.0}});
    trust_by_neighbours();
  }
  correction_ = fit_kriging(correction_points(), {{0.5, 1.0, 2.0, 4.0}, {0.25, 0.5, 1.0, 2.0}});
}

KernelSurface::Value KernelSurface::at(const Kernel& kernel) const {
  const Shape shape = shape_of(kernel);
  const Kriging::Value correction = correction_.at({coordinates(shape)});
  double low_x = HUGE_VAL, high_x = 0, low_y = HUGE_VAL, high_y = 0, low_f = HUGE_VAL, high_f = 0;
  for (const KernelTime& row : rows_) {
    const Shape measured = shape_of(row.kernel);
    low_x = std::min(low_x, measured.x);
    high_x = std::max(high_x, measured.x);
    low_y = std::min(low_y, measured.y);
    high_y = std::max(high_y, measured.y);
    low_f = std::min(low_f, measured.flops);
    high_f = std::max(high_f, measured.flops);
  }
  const auto within = [](double low, double value, double high) {
    return 0.999 * low <= value && value <= 1.001 * high;
  };
  const bool inside = within(low_x, shape.x, high_x) && within(low_y, shape.y, high_y) &&
                      within(low_f, shape.flops, high_f);
  double variance = std::pow(correction.deviation, 2) + std::pow(correction_.kernel().noise, 2);
  if (!inside) {  // beyond the table the surface itself is uncertain, more so the farther
    const double distance =
        std::abs(std::log(shape.flops / std::clamp(shape.flops, low_f, high_f)));
    for (const Parameter& parameter : parameters_) {
      variance += std::pow(0.1 * parameter.relative_error * distance, 2);
    }
    variance += std::pow(0.02 * distance, 2);
  }
  return {plain(kernel) * std::exp(correction.mean), std::sqrt(variance), inside};
}

}  // namespace amsp
