// SPDX-License-Identifier: Apache-2.0
#include "calibrate/kriging.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <set>
#include <span>

#include "calibrate/least_squares.hpp"

namespace amsp {

using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

double covariance(const Kernel3& kernel, const Kriging::Place& a, const Kriging::Place& b) {
  if (a.domain != b.domain) return 0;
  double square = 0;
  for (std::size_t i = 0; i < a.at.size(); ++i) {
    const double difference = (a.at[i] - b.at[i]) / kernel.length[i];
    square += difference * difference;
  }
  double alike = kernel.amplitude * kernel.amplitude;
  assert(a.mixture.size() == b.mixture.size());
  if (!a.mixture.empty()) {
    alike *= std::inner_product(a.mixture.begin(), a.mixture.end(), b.mixture.begin(), 0.0);
  }
  const double distance = std::sqrt(3 * square);
  return alike * (1 + distance) * std::exp(-distance);
}

MatrixXd covariance_matrix(const std::vector<Kriging::Point>& points, const Kernel3& kernel) {
  const auto n = static_cast<Eigen::Index>(points.size());
  MatrixXd k(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const Kriging::Point& a = points[static_cast<std::size_t>(i)];
    for (Eigen::Index j = 0; j <= i; ++j) {
      const Kriging::Point& b = points[static_cast<std::size_t>(j)];
      k(i, j) = k(j, i) = covariance(kernel, a.place, b.place);
    }
    k(i, i) += std::pow(kernel.noise * a.noise_factor, 2);
  }
  return k;
}

}  // namespace

Kriging::Kriging(std::vector<Point> points, Kernel3 kernel)
    : points_(std::move(points)), kernel_(std::move(kernel)) {
  const auto n = static_cast<Eigen::Index>(points_.size());
  if (n == 0) return;
  VectorXd y(n);
  for (Eigen::Index i = 0; i < n; ++i) y[i] = points_[static_cast<std::size_t>(i)].value;
  const Eigen::LLT<MatrixXd> cholesky(covariance_matrix(points_, kernel_));
  const VectorXd weights = cholesky.solve(y);
  const MatrixXd inverse = cholesky.solve(MatrixXd::Identity(n, n));
  weights_.assign(weights.data(), weights.data() + n);
  inverse_.assign(inverse.data(), inverse.data() + n * n);
  for (Eigen::Index i = 0; i < n; ++i) {
    leave_one_out_.push_back(weights[i] / inverse(i, i));
    leave_one_out_deviation_.push_back(1 / std::sqrt(inverse(i, i)));
  }
}

Kriging::Value Kriging::at(const Place& where) const {
  const auto n = points_.size();
  const double amplitude2 = kernel_.amplitude * kernel_.amplitude;
  if (n == 0 || kernel_.amplitude == 0) return {0, kernel_.amplitude};
  VectorXd k(static_cast<Eigen::Index>(n));
  double mean = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double c = covariance(kernel_, points_[i].place, where);
    k[static_cast<Eigen::Index>(i)] = c;
    mean += c * weights_[i];
  }
  const Eigen::Map<const MatrixXd> inverse(inverse_.data(), k.size(), k.size());
  const double variance = amplitude2 - k.dot(inverse * k);
  return {mean, std::sqrt(std::max(0.0, variance))};
}

// In closed form: with P the inverse covariance and b the rows of the group, the residuals are
// (P_bb)^-1 (P y)_b and their covariance is (P_bb)^-1.
std::vector<Kriging::Value> Kriging::leave_groups_out(const std::vector<int>& group) const {
  const auto n = static_cast<Eigen::Index>(points_.size());
  const Eigen::Map<const MatrixXd> inverse(inverse_.data(), n, n);
  std::vector<Value> left_out(points_.size());
  for (const int name : std::set<int>(group.begin(), group.end())) {
    std::vector<Eigen::Index> rows;
    for (Eigen::Index i = 0; i < n; ++i) {
      if (group[static_cast<std::size_t>(i)] == name) rows.push_back(i);
    }
    const auto size = static_cast<Eigen::Index>(rows.size());
    VectorXd weights(size);
    for (Eigen::Index i = 0; i < size; ++i) {
      weights[i] = weights_[static_cast<std::size_t>(rows[static_cast<std::size_t>(i)])];
    }
    const MatrixXd covariance = MatrixXd(inverse(rows, rows)).inverse();
    const VectorXd residuals = covariance * weights;
    for (Eigen::Index i = 0; i < size; ++i) {
      const auto point = static_cast<std::size_t>(rows[static_cast<std::size_t>(i)]);
      const double noise = kernel_.noise * points_[point].noise_factor;
      const double variance = covariance(i, i) - noise * noise;
      left_out[point] = {residuals[i], std::sqrt(std::max(0.0, variance))};
    }
  }
  return left_out;
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

// Log likelihood only: no inverse.
class LikelihoodSearch {
 public:
  LikelihoodSearch(const std::vector<Kriging::Point>& points, double spread)
      : points_(points), spread_(spread) {
    y_.resize(static_cast<Eigen::Index>(points.size()));
    for (std::size_t i = 0; i < points.size(); ++i) {
      y_[static_cast<Eigen::Index>(i)] = points[i].value;
    }
  }

  // One coordinate of the hyperparameters at a time, two rounds.
  Kernel3 run(const std::vector<std::vector<double>>& lengths) {
    Kernel3 best;
    for (const auto& choices : lengths) best.length.push_back(choices[choices.size() / 2]);
    set_amplitude(best, 1.0);
    set_noise(best, 0.35);
    double score = likelihood(best);
    for (int round = 0; round < 2; ++round) {
      for (std::size_t i = 0; i < lengths.size(); ++i) {
        for (const double length : lengths[i]) {
          Kernel3 trial = best;
          trial.length[i] = length;
          keep_better(trial, best, score);
        }
      }
      for (const double amplitude : {0.5, 1.0, 2.0, 4.0, 8.0, 16.0}) {
        Kernel3 trial = best;
        set_amplitude(trial, amplitude);
        keep_better(trial, best, score);
      }
      for (const double noise : {0.05, 0.1, 0.2, 0.35, 0.6, 1.0}) {
        Kernel3 trial = best;
        set_noise(trial, noise);
        keep_better(trial, best, score);
      }
    }
    return best;
  }

 private:
  void set_amplitude(Kernel3& kernel, double factor) const {
    kernel.amplitude = std::clamp(factor * spread_, 0.01, 0.8);
  }
  void set_noise(Kernel3& kernel, double factor) const {
    kernel.noise = std::max(factor * spread_, 0.004);
  }
  void keep_better(const Kernel3& trial, Kernel3& best, double& score) const {
    const double value = likelihood(trial);
    if (value > score) {
      score = value;
      best = trial;
    }
  }
  double likelihood(const Kernel3& kernel) const {
    const Eigen::LLT<MatrixXd> cholesky(covariance_matrix(points_, kernel));
    if (cholesky.info() != Eigen::Success) return -HUGE_VAL;
    const MatrixXd lower = cholesky.matrixL();
    return -0.5 * y_.dot(cholesky.solve(y_)) - lower.diagonal().array().log().sum();
  }

  const std::vector<Kriging::Point>& points_;
  double spread_;
  VectorXd y_;
};

}  // namespace

Kriging fit_kriging(const std::vector<Kriging::Point>& points,
                    const std::vector<std::vector<double>>& lengths) {
  std::vector<double> values;
  for (const auto& point : points) values.push_back(point.value);
  const double spread = std::max(robust_scale(values), 0.005);
  const Kernel3 none{std::vector<double>(lengths.size(), 1.0), 0.0, spread};
  if (points.size() < 4) return Kriging(points, none);
  Kriging best(points, LikelihoodSearch(points, spread).run(lengths));
  if (mean_huber(best.leave_one_out(), spread) >= mean_huber(values, spread)) {
    return Kriging(points, none);
  }
  return best;
}

}  // namespace amsp
