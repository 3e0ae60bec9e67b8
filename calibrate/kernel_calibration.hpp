// SPDX-License-Identifier: Apache-2.0
// Measured kernel times of one GPU type and the surfaces fitted to them (docs/model/30-compute.md):
//
//   time = max(floor, FLOPs / rate x (1 + half_x / x) (1 + half_y / y)) x correction(x, y)
//
// GEMM: x = m, y = sqrt(n k). Attention: x = sequence length, y = sequences x heads.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_value.hpp"
#include "base/kernel.hpp"
#include "calibrate/kriging.hpp"
#include "topologies/cluster.hpp"

namespace amsp {

struct KernelTime {
  Kernel kernel;
  Seconds time;
  std::string source;  // file; empty when read back from a calibration
  std::string place;   // line
  double trust = 1;    // read back: of an outlier below 1
};

class KernelSurface {
 public:
  // Fits the times of one kernel class and element type; at least one row. `peak` = the GPU's dense
  // peak.
  static KernelSurface fit(std::vector<KernelTime> rows, FlopRate peak);
  // From a calibration file; refits nothing.
  static KernelSurface read(std::vector<KernelTime> rows, FlopRate peak, const JsonValue& json);

  struct Value {
    Seconds time;
    double log_deviation = 0;  // standard deviation of log time
    bool inside = false;       // within the shapes that were measured
  };
  [[nodiscard]] Value at(const Kernel& kernel) const;

  struct Parameter {
    std::string name;
    double value = 0;           // SI unit
    double relative_error = 0;  // standard error of the logarithm
  };
  [[nodiscard]] const std::vector<Parameter>& parameters() const { return parameters_; }
  [[nodiscard]] const std::vector<KernelTime>& rows() const { return rows_; }
  [[nodiscard]] FlopRate peak() const { return peak_; }
  [[nodiscard]] const Kriging& correction() const { return correction_; }
  // log(measured / model without correction) of each row.
  [[nodiscard]] std::vector<double> residuals() const;
  // Of each row: 1 = believed; an outlier among its neighbours, up to kernel_outlier, weighs that
  // little in the correction. Read back: 1 for all but outliers.
  [[nodiscard]] const std::vector<double>& trust() const { return trust_; }

 private:
  KernelSurface(std::vector<KernelTime> rows, FlopRate peak);
  [[nodiscard]] Seconds plain(const Kernel& kernel) const;
  [[nodiscard]] std::vector<Kriging::Point> correction_points() const;
  void correct();
  void trust_by_neighbours();
  std::vector<KernelTime> rows_;
  FlopRate peak_;
  std::vector<Parameter> parameters_;  // floor, rate, half_x, half_y
  Kriging correction_;
  std::vector<double> trust_;
};

// Rows of less trust are named as outliers, as those of collectives are.
constexpr double kernel_outlier = 0.25;

struct KernelCalibration {
  std::string gpu;  // name of the GPU type
  FlopRate peak;    // dense, of `peak_dtype`; a surface of another type has its own
  Dtype peak_dtype = Dtype::bf16;
  std::vector<std::pair<KernelClass, KernelSurface>> surfaces;
  double hbm_share = 0;  // of the data-sheet rate that element-wise kernels reach
  std::string hbm_origin;
  Seconds launch;
  std::string launch_origin;
};

// A CSV table of kernel times (docs/formats/kernels-csv.md): columns kernel, tokens, hidden,
// head_dim, direction, time_s; or kernel, m, n, k, …. Throws InputError with the line.
std::vector<KernelTime> read_kernel_csv(std::string_view text, std::string_view file);
bool looks_like_kernel_csv(std::string_view text);

// Throws InputError at the row where the times of one class are not all of one element type.
KernelCalibration fit_kernels(const std::vector<KernelTime>& rows, const GpuSpec& gpu);
KernelCalibration read_kernel_calibration(const JsonValue& json);
std::string to_json(const KernelCalibration& kernels);

}  // namespace amsp
