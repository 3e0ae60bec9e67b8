// SPDX-License-Identifier: Apache-2.0
#include "calibrate/kriging.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "calibrate/least_squares.hpp"

namespace amsp {

using Eigen::MatrixXd;
using Eigen::VectorXd;

double Kriging::covariance(std::span<const double> a, std::span<const double> b) const {
  double square = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = (a[i] - b[i]) / kernel_.length[i];
    square += difference * difference;
  }
  const double distance = std::sqrt(3 * square);
  return kernel_.amplitude * kernel_.amplitude * (1 + distance) * std::exp(-distance);
}

Kriging::Kriging(std::vector<Point> points, Kernel3 kernel)
    : points_(std::move(points)), kernel_(std::move(kernel)) {
  const auto n = static_cast<Eigen::Index>(points_.size());
  if (n == 0) return;
  MatrixXd k(n, n);
  VectorXd y(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const Point& a = points_[static_cast<std::size_t>(i)];
    y[i] = a.value;
    for (Eigen::Index j = 0; j <= i; ++j) {
      const Point& b = points_[static_cast<std::size_t>(j)];
      k(i, j) = k(j, i) = a.domain == b.domain ? covariance(a.at, b.at) : 0.0;
    }
    k(i, i) += std::pow(kernel_.noise * a.noise_factor, 2);
  }
  const Eigen::LLT<MatrixXd> cholesky(k);
  const VectorXd weights = cholesky.solve(y);
  const MatrixXd inverse = cholesky.solve(MatrixXd::Identity(n, n));
  weights_.assign(weights.data(), weights.data() + n);
  inverse_.assign(inverse.data(), inverse.data() + n * n);
  for (Eigen::Index i = 0; i < n; ++i) leave_one_out_.push_back(weights[i] / inverse(i, i));
  const MatrixXd lower = cholesky.matrixL();
  log_likelihood_ = -0.5 * y.dot(weights) - lower.diagonal().array().log().sum();
}

Kriging::Value Kriging::at(std::span<const double> where, int domain) const {
  const auto n = points_.size();
  const double amplitude2 = kernel_.amplitude * kernel_.amplitude;
  if (n == 0 || kernel_.amplitude == 0) return {0, kernel_.amplitude};
  VectorXd k(static_cast<Eigen::Index>(n));
  double mean = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double c = points_[i].domain == domain ? covariance(points_[i].at, where) : 0.0;
    k[static_cast<Eigen::Index>(i)] = c;
    mean += c * weights_[i];
  }
  const Eigen::Map<const MatrixXd> inverse(inverse_.data(), k.size(), k.size());
  const double variance = amplitude2 - k.dot(inverse * k);
  return {mean, std::sqrt(std::max(0.0, variance))};
}

namespace {

double mean_huber(std::span<const double> residuals, double scale) {
  double sum = 0;
  for (const double r : residuals) {
    const double x = std::abs(r) / scale;
    sum += x <= 1.345 ? x * x : 1.345 * (2 * x - 1.345);
  }
  return sum / static_cast<double>(std::max<std::size_t>(1, residuals.size()));
}

}  // namespace

Kriging fit_kriging(const std::vector<Kriging::Point>& points,
                    const std::vector<std::vector<double>>& lengths) {
  std::vector<double> values;
  for (const auto& point : points) values.push_back(point.value);
  const double spread = std::max(robust_scale(values), 0.005);
  Kriging best(points, {std::vector<double>(lengths.size(), 1.0), 0.0, spread});
  if (points.size() < 4) return best;
  double best_score = best.log_likelihood();
  std::vector<std::size_t> choice(lengths.size(), 0);
  for (bool more = true; more;) {
    Kernel3 kernel;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      kernel.length.push_back(lengths[i][choice[i]]);
    }
    for (const double amplitude : {0.5, 1.0, 2.0, 4.0}) {
      for (const double noise : {0.1, 0.2, 0.35, 0.6}) {
        kernel.amplitude = std::clamp(amplitude * spread, 0.01, 0.8);
        kernel.noise = std::max(noise * spread, 0.004);
        Kriging candidate(points, kernel);
        if (candidate.log_likelihood() > best_score) {
          best_score = candidate.log_likelihood();
          best = std::move(candidate);
        }
      }
    }
    more = false;
    for (std::size_t i = 0; i < choice.size() && !more; ++i) {
      more = ++choice[i] < lengths[i].size();
      if (!more) choice[i] = 0;
    }
  }
  if (mean_huber(best.leave_one_out(), spread) >= mean_huber(values, spread)) {
    return Kriging(points, {std::vector<double>(lengths.size(), 1.0), 0.0, spread});
  }
  return best;
}

}  // namespace amsp
