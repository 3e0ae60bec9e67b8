// SPDX-License-Identifier: Apache-2.0
// How long a kernel takes on a GPU that does nothing else (docs/model.md, "Compute").
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/kernel.hpp"
#include "base/quantity.hpp"
#include "calibrate/collective_model.hpp"
#include "topologies/cluster.hpp"

namespace amsp {

struct KernelEstimate {
  Seconds time;       // with launch overhead
  Seconds low, high;  // 90 % interval
  PredictionRange range = PredictionRange::default_model;
};

class ComputeModel {
 public:
  virtual ~ComputeModel() = default;
  [[nodiscard]] virtual KernelEstimate estimate(const Kernel& kernel) const = 0;
  // What a reader of every figure has to know; "" = nothing.
  [[nodiscard]] virtual std::string note() const { return {}; }
};

// From the kernel tables of a calibration file; "" = the shipped table of an A800, scaled to
// the type by data sheets and the best rates that were measured on it.
std::unique_ptr<ComputeModel> load_compute_model(std::string_view name_or_path, const GpuSpec& gpu);

// The table that serves without a calibration.
std::filesystem::path default_kernel_file();

// The same with all times divided by `efficiency`: the share of the model's speed that the kernels
// of a job reach. 1 returns the model itself.
std::unique_ptr<ComputeModel> at_efficiency(std::unique_ptr<ComputeModel> model, double efficiency);

}  // namespace amsp
