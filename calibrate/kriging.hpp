// SPDX-License-Identifier: Apache-2.0
// The smooth correction of a physical model: simple kriging (a Gaussian process with mean zero) of
// its logarithmic residuals. Near the measurements the corrected model follows them, away from
// them the correction fades to zero and its uncertainty grows, both continuously.
#pragma once
#include <cstddef>
#include <vector>

namespace amsp {

// Exponential-type covariance  amplitude^2 (1 + d) exp(-d)  (Matern 3/2), d = distance with each
// coordinate divided by its length; `noise` = standard deviation of one measurement.
struct Kernel3 {
  std::vector<double> length;
  double amplitude = 0;
  double noise = 0.05;
};

class Kriging {
 public:
  struct Place {
    std::vector<double> at;
    int domain = 0;  // points of different domains do not inform each other
    // Square roots of the shares of what is mixed here, a unit vector; the covariance of two places
    // has its scalar product as a factor. Empty: nothing is.
    std::vector<double> mixture = {};
  };
  struct Point {
    Place place;
    double value = 0;
    double noise_factor = 1;  // > 1: less trusted (an outlier)
  };
  Kriging() = default;
  Kriging(std::vector<Point> points, Kernel3 kernel);

  struct Value {
    double mean = 0;
    double deviation = 0;  // standard deviation of the true curve around `mean`
  };
  [[nodiscard]] Value at(const Place& where) const;
  // Leave-one-out residuals (closed form), in the order of the points.
  [[nodiscard]] const std::vector<double>& leave_one_out() const { return leave_one_out_; }
  // Their standard deviations as the model expects them.
  [[nodiscard]] const std::vector<double>& leave_one_out_deviation() const {
    return leave_one_out_deviation_;
  }
  // The same for points that are left out together with all others of their group: `mean` is the
  // residual, `deviation` that of the curve (without the noise of one measurement).
  [[nodiscard]] std::vector<Value> leave_groups_out(const std::vector<int>& group_of_point) const;
  [[nodiscard]] const Kernel3& kernel() const { return kernel_; }
  [[nodiscard]] const std::vector<Point>& points() const { return points_; }

 private:
  std::vector<Point> points_;
  Kernel3 kernel_;
  std::vector<double> weights_;  // inverse covariance x values
  std::vector<double> inverse_;  // row-major inverse covariance
  std::vector<double> leave_one_out_, leave_one_out_deviation_;
};

// Chooses lengths, amplitude and noise by the likelihood over the given candidate lengths per
// coordinate; amplitude 0 (no correction) when leave-one-out does not get better by it.
Kriging fit_kriging(const std::vector<Kriging::Point>& points,
                    const std::vector<std::vector<double>>& lengths);

}  // namespace amsp
