// SPDX-License-Identifier: Apache-2.0
#include "calibrate/least_squares.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cassert>
#include <cmath>

namespace amsp {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// Huber's constant: 95 % efficient for normal residuals.
constexpr double huber = 1.345;

class Solver {
 public:
  explicit Solver(const LeastSquaresProblem& problem)
      : problem_(problem),
        rows_(static_cast<Eigen::Index>(problem.rows)),
        prior_(Eigen::Map<const VectorXd>(problem.prior.data(), size(problem.prior))),
        p_(problem.start.empty()
               ? prior_
               : VectorXd(Eigen::Map<const VectorXd>(problem.start.data(), size(problem.start)))) {
    assert(problem.width.size() == problem.prior.size());
    for (Eigen::Index j = 0; j < p_.size(); ++j) {
      if (problem.width[static_cast<std::size_t>(j)] > 0) free_.push_back(j);
    }
  }

  double cost_of_start() {
    const VectorXd r = evaluate(p_);
    reweight(r);
    return bounded_cost(r);
  }

  LeastSquaresSolution run() {
    VectorXd r = evaluate(p_);
    double damping = 1e-3;
    int iteration = 0;
    for (; iteration < problem_.iterations; ++iteration) {
      reweight(r);
      const double before = cost(r, p_);
      const MatrixXd jacobian = differentiate(r);
      const auto [curvature, gradient] = normal(jacobian, r, p_);
      double best = before;
      VectorXd step;
      for (int attempt = 0; attempt < 12; ++attempt) {
        MatrixXd damped = curvature;
        damped.diagonal() *= 1 + damping;
        step = damped.ldlt().solve(-gradient);
        const VectorXd moved = apply(step);
        const VectorXd there = evaluate(moved);
        best = there.allFinite() ? cost(there, moved) : HUGE_VAL;
        if (best < before) {
          p_ = moved;
          r = there;
          damping = std::max(damping * 0.3, 1e-9);
          break;
        }
        damping *= 4;
      }
      if (best >= before || (before - best < 1e-6 * (1 + before))) break;
    }
    return solution(r, iteration);
  }

 private:
  static Eigen::Index size(const std::vector<double>& v) {
    return static_cast<Eigen::Index>(v.size());
  }

  VectorXd evaluate(const VectorXd& p) const {
    VectorXd r(rows_);
    problem_.residuals({p.data(), problem_.prior.size()}, {r.data(), problem_.rows});
    return r;
  }

  void reweight(const VectorXd& r) {
    scale_ = std::max(robust_scale({r.data(), problem_.rows}), problem_.least_scale);
    weights_.resize(rows_);
    for (Eigen::Index i = 0; i < rows_; ++i) {
      const double size = std::abs(r[i]) / scale_;
      weights_[i] = size <= huber ? 1.0 : huber / size;
    }
  }

  double cost(const VectorXd& r, const VectorXd& p) const {
    double sum = (weights_.array() * r.array().square()).sum() / (scale_ * scale_);
    for (const Eigen::Index j : free_) sum += std::pow((p[j] - prior_[j]) / width(j), 2);
    return sum;
  }

  double width(Eigen::Index j) const { return problem_.width[static_cast<std::size_t>(j)]; }

  VectorXd apply(const VectorXd& step) const {
    VectorXd moved = p_;
    for (std::size_t f = 0; f < free_.size(); ++f) {
      const double limited = std::clamp(step[static_cast<Eigen::Index>(f)], -2.0, 2.0);
      moved[free_[f]] += limited;
    }
    return moved;
  }

  // Forward differences; the parameters are logarithms or of order one.
  MatrixXd differentiate(const VectorXd& here) const {
    MatrixXd jacobian(rows_, static_cast<Eigen::Index>(free_.size()));
    constexpr double h = 1e-5;
    for (std::size_t f = 0; f < free_.size(); ++f) {
      VectorXd shifted = p_;
      shifted[free_[f]] += h;
      jacobian.col(static_cast<Eigen::Index>(f)) = (evaluate(shifted) - here) / h;
    }
    return jacobian;
  }

  std::pair<MatrixXd, VectorXd> normal(const MatrixXd& jacobian, const VectorXd& r,
                                       const VectorXd& p) const {
    const double unit = 1 / (scale_ * scale_);
    const MatrixXd weighted = weights_.asDiagonal() * jacobian;
    MatrixXd curvature = jacobian.transpose() * weighted * unit;
    VectorXd gradient = weighted.transpose() * r * unit;
    for (std::size_t f = 0; f < free_.size(); ++f) {
      const auto at = static_cast<Eigen::Index>(f);
      const double precision = 1 / (width(free_[f]) * width(free_[f]));
      curvature(at, at) += precision;
      gradient[at] += precision * (p[free_[f]] - prior_[free_[f]]);
    }
    return {curvature, gradient};
  }

  LeastSquaresSolution solution(const VectorXd& r, int iterations) {
    reweight(r);
    const auto [curvature, gradient] = normal(differentiate(r), r, p_);
    const MatrixXd inverse =
        curvature.ldlt().solve(MatrixXd::Identity(curvature.rows(), curvature.cols()));
    LeastSquaresSolution s;
    const std::size_t n = problem_.prior.size();
    s.parameters.assign(p_.data(), p_.data() + p_.size());
    s.standard_error.assign(n, 0.0);
    s.covariance.assign(n, std::vector<double>(n, 0.0));
    for (std::size_t a = 0; a < free_.size(); ++a) {
      const auto row = static_cast<std::size_t>(free_[a]);
      for (std::size_t b = 0; b < free_.size(); ++b) {
        s.covariance[row][static_cast<std::size_t>(free_[b])] =
            inverse(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b));
      }
      s.standard_error[row] = std::sqrt(std::max(0.0, s.covariance[row][row]));
    }
    s.residuals.assign(r.data(), r.data() + r.size());
    s.weights.assign(weights_.data(), weights_.data() + weights_.size());
    s.scale = scale_;
    s.iterations = iterations;
    s.cost = bounded_cost(r);
    return s;
  }

  // Bounded: solutions are compared by the rows that they explain. Else an outlier would prefer the
  // solution with the larger scale.
  double bounded_cost(const VectorXd& r) const {
    double sum = static_cast<double>(rows_) * std::log(scale_);
    for (Eigen::Index i = 0; i < rows_; ++i) {
      const double x = std::min(std::abs(r[i]) / scale_, 3.0);
      sum += x <= huber ? 0.5 * x * x : huber * (x - 0.5 * huber);
    }
    for (const Eigen::Index j : free_) sum += 0.5 * std::pow((p_[j] - prior_[j]) / width(j), 2);
    return sum;
  }

  const LeastSquaresProblem& problem_;
  Eigen::Index rows_;
  VectorXd prior_;
  VectorXd p_;
  VectorXd weights_;
  double scale_ = 1;
  std::vector<Eigen::Index> free_;
};

}  // namespace

LeastSquaresSolution solve(const LeastSquaresProblem& problem) { return Solver(problem).run(); }

double cost_of_start(const LeastSquaresProblem& problem) { return Solver(problem).cost_of_start(); }

double robust_scale(std::span<const double> residuals) {
  if (residuals.empty()) return 0;
  std::vector<double> sizes;
  sizes.reserve(residuals.size());
  for (const double r : residuals) sizes.push_back(std::abs(r));
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  return 1.4826 * *middle;
}

}  // namespace amsp
