// SPDX-License-Identifier: Apache-2.0
#include "calibrate/kernel_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/counted.hpp"
#include "base/median.hpp"
#include "base/units_text.hpp"

namespace amsp {
namespace {

std::string shape_text(const Kernel& kernel) {
  if (kernel.kind == KernelClass::gemm)
    return fmt::format("{} x {} x {}", kernel.m, kernel.n, kernel.k);
  const std::string heads = kernel.kv_heads == kernel.heads
                                ? fmt::format("{}", kernel.heads)
                                : fmt::format("{}/{}", kernel.heads, kernel.kv_heads);
  return fmt::format("{} x {} tokens, {} heads of {}", kernel.sequences, kernel.sequence_length,
                     heads, kernel.head_dim);
}

std::string row_text(const KernelTime& row, const KernelSurface& surface, double trust) {
  const double error = surface.at(row.kernel).time / row.time - 1;
  return fmt::format("    {:<36} {:>4} {:>10} {:>8} TFLOP/s  {:+6.1f} %  trust {:.2f}  {} {}\n",
                     shape_text(row.kernel), name_of(row.kernel.dtype), human(row.time),
                     fmt::format("{:.1f}", (flops_of(row.kernel) / row.time).value() / 1e12),
                     100 * error, trust, row.source, row.place);
}

std::string rows_text(const KernelSurface& surface, bool all_rows) {
  std::string text;
  for (std::size_t i = 0; i < surface.rows().size(); ++i) {
    const double trust = surface.trust()[i];
    if (!all_rows && trust > kernel_outlier) continue;
    if (text.empty())
      text = all_rows ? "    rows (error: model / measured - 1):\n"
                      : "    outliers (error: model / measured - 1):\n";
    text += row_text(surface.rows()[i], surface, trust);
  }
  return text;
}

// "gemm: 9 rows, leave-one-out error: …". Below four rows there is no correction that a row could
// be left out of (fit_kriging), only the formula with its priors.
std::string fit_text(const KernelSurface& surface) {
  constexpr std::size_t fewest = 4;
  std::vector<double> errors;
  for (const double log_ratio : surface.correction().leave_one_out())
    errors.push_back(std::abs(std::expm1(-log_ratio)));
  const std::string rows = counted(errors.size(), "row");
  if (errors.size() < fewest)
    return fmt::format(
        "{}, too few to leave one out ({} or more): how well the fit holds for "
        "other shapes is not known",
        rows, fewest);
  return fmt::format("{}, leave-one-out error: median {:.1f} %, largest {:.1f} %", rows,
                     100 * median(errors), 100 * *std::max_element(errors.begin(), errors.end()));
}

}  // namespace

std::string kernel_report(const KernelCalibration& kernels, bool all_rows) {
  std::string text = fmt::format("kernels on {}\n", kernels.gpu);
  for (const auto& [kind, surface] : kernels.surfaces) {
    text += fmt::format("  {}: {}\n", name_of(kind), fit_text(surface));
    text += rows_text(surface, all_rows);
  }
  text += fmt::format("  element-wise: {:.2f} of the memory rate ({})\n", kernels.hbm_share,
                      kernels.hbm_origin);
  text += fmt::format("  launch: {} ({})\n", human(kernels.launch), kernels.launch_origin);
  return text;
}

}  // namespace amsp
