// SPDX-License-Identifier: Apache-2.0
// Robust non-linear least squares with a Gaussian prior on the parameters: Levenberg-Marquardt on
// Huber-weighted residuals (re-weighted each iteration, scale from the median absolute deviation).
// Minimises  sum huber(r_i / s) + sum ((p_j - prior_j) / width_j)^2.
#pragma once
#include <functional>
#include <span>
#include <vector>

namespace amsp {

struct LeastSquaresProblem {
  std::vector<double> prior;  // centres of the prior
  std::vector<double> start;  // start values; the prior's where empty
  std::vector<double> width;  // standard deviations of the prior; 0 = the parameter is held
  std::size_t rows = 0;
  double least_scale = 0.01;  // floor of the residuals' scale
  int iterations = 60;        // at most
  // Writes the residual of each row for these parameters.
  std::function<void(std::span<const double> parameters, std::span<double> residuals)> residuals;
};

struct LeastSquaresSolution {
  std::vector<double> parameters;
  std::vector<double> standard_error;           // of each parameter, from the inverse curvature
  std::vector<std::vector<double>> covariance;  // of all parameters
  std::vector<double> residuals;
  std::vector<double> weights;  // Huber weights: 1 = believed, below about 0.3 = an outlier
  double scale = 0;             // robust standard deviation of the residuals
  double cost = 0;  // robust: sum of Huber losses and prior terms, scale included (lower is better)
  int iterations = 0;
};

LeastSquaresSolution solve(const LeastSquaresProblem& problem);

// The cost of the start values as they stand, comparable with that of a solution.
double cost_of_start(const LeastSquaresProblem& problem);

// Robust standard deviation: 1.4826 x median |x|.
double robust_scale(std::span<const double> residuals);

}  // namespace amsp
