// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "calibrate/compute_model.hpp"

namespace amsp {
namespace {

class AtEfficiency : public ComputeModel {
 public:
  AtEfficiency(std::unique_ptr<ComputeModel> model, double efficiency)
      : model_(std::move(model)), efficiency_(efficiency) {}

  KernelEstimate estimate(const Kernel& kernel) const override {
    KernelEstimate estimate = model_->estimate(kernel);
    estimate.time = estimate.time / efficiency_;
    estimate.low = estimate.low / efficiency_;
    estimate.high = estimate.high / efficiency_;
    return estimate;
  }
  std::string note() const override {
    const std::string inner = model_->note();
    return fmt::format(
        "{}{}kernel times are divided by the scenario's compute_efficiency of {:.4g}", inner,
        inner.empty() ? "" : "; ", efficiency_);
  }

 private:
  std::unique_ptr<ComputeModel> model_;
  double efficiency_;
};

}  // namespace

std::unique_ptr<ComputeModel> at_efficiency(std::unique_ptr<ComputeModel> model,
                                            double efficiency) {
  if (efficiency == 1) return model;
  return std::make_unique<AtEfficiency>(std::move(model), efficiency);
}

}  // namespace amsp
