// SPDX-License-Identifier: Apache-2.0
#include "calibrate/compute_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/file.hpp"
#include "calibrate/calibration.hpp"
#include "calibrate/kernel_calibration.hpp"
#include "calibrate/kernel_defaults.hpp"

namespace amsp {
namespace {

constexpr double z90 = CurveValue::z90;

class KernelModel : public ComputeModel {
 public:
  // `assumed`: the table is not of this job's calibration.
  KernelModel(const GpuSpec& gpu, KernelCalibration table, bool assumed)
      : gpu_(gpu), table_(std::move(table)), assumed_(assumed) {
    if (table_.gpu != gpu.name) foreign_ = measured_type(table_);
    if (assumed_) {
      const std::string scaled =
          foreign_ ? fmt::format(", matrix products {:.3g} and attention {:.3g} times as fast",
                                 speed(KernelClass::gemm), speed(forward))
                   : "";
      note_ = fmt::format(
          "no kernel was measured for {}: the times of {} in {} are taken{}, with fused "
          "element-wise "
          "kernels and no host time between kernels; few programs are as fast (amsp calibrate with "
          "a "
          "table of your kernels says more)",
          gpu_.name, table_.gpu, default_kernel_table, scaled);
    } else if (foreign_) {
      note_ = fmt::format(
          "kernels measured on {}, used on {}: matrix products {:.3g} times as fast by the best "
          "products of the two types, attention {:.3g} times",
          table_.gpu, gpu_.name, speed(KernelClass::gemm), speed(forward));
    }
  }

  std::string note() const override { return note_; }

  KernelEstimate estimate(const Kernel& kernel) const override {
    switch (kernel.kind) {
      case KernelClass::fixed:
        return {kernel.duration, kernel.duration, kernel.duration, PredictionRange::measured};
      case KernelClass::elementwise:
      case KernelClass::optimizer:
        return streaming(kernel);
      default:
        break;
    }
    if (kernel.dtype != Dtype::fp32 && kernel.dtype != Dtype::fp64) {
      for (const auto& [kind, surface] : table_.surfaces) {
        if (kind == kernel.kind) return from(surface, kernel);
      }
    }
    return roofline(kernel);
  }

 private:
  static constexpr KernelClass forward = KernelClass::attention_forward;

  static KernelEstimate spread(Seconds time, double deviation, PredictionRange range) {
    const double factor = std::exp(z90 * deviation);
    return {time, time / factor, time * factor, range};
  }

  // A table of 16-bit times serves other 16-bit types; narrower types by the ratio of the peaks.
  KernelEstimate from(const KernelSurface& surface, const Kernel& kernel) const {
    const KernelSurface::Value value = surface.at(kernel);
    const bool own = kernel.dtype == surface.rows().front().kernel.dtype;
    const double ratio =
        own ? 1.0 : peak(gpu_, surface.rows().front().kernel.dtype) / peak(gpu_, kernel.dtype);
    const Seconds time = value.time * ratio / speed(kernel.kind);
    if (assumed_) return of_program(time);
    const auto range = value.inside && ratio == 1.0 && !foreign_ ? PredictionRange::measured
                                                                 : PredictionRange::extrapolated;
    // On another type as uncertain as a guess.
    const double deviation =
        foreign_ ? std::hypot(value.log_deviation, 0.3 / z90) : value.log_deviation;
    return spread(time, deviation, range);
  }

  // A kernel that nobody measured, in a program that nobody named.
  static KernelEstimate of_program(Seconds time) {
    return {time, time / default_faster, time * default_slower, PredictionRange::default_model};
  }

  // This type against the one that was measured.
  double speed(KernelClass kind) const {
    if (!foreign_) return 1;
    const FlopRate here = peak(gpu_, Dtype::bf16) * share(gpu_, kind);
    return here / (peak(*foreign_, Dtype::bf16) * share(*foreign_, kind));
  }

  // The catalogue's entry, or what the calibration itself says of a type that is not there.
  static GpuSpec measured_type(const KernelCalibration& kernels) {
    for (const GpuType& type : gpu_types())
      if (type.spec.name == kernels.gpu) return type.spec;
    GpuSpec own;
    own.name = kernels.gpu;
    own.peak[kernels.peak_dtype] = kernels.peak;
    return own;
  }

  KernelEstimate streaming(const Kernel& kernel) const {
    const Seconds time = kernel.hbm / (gpu_.hbm * table_.hbm_share) + table_.launch;
    if (assumed_) return of_program(time);
    // The share is assumed, not measured: 10 % either way.
    return spread(time, 0.1 / z90, PredictionRange::default_model);
  }

  KernelEstimate roofline(const Kernel& kernel) const {
    const double reached = share(gpu_, kernel.kind, kernel.dtype);
    const Seconds compute = flops_of(kernel) / (peak(gpu_, kernel.dtype) * reached);
    const Seconds memory = operands(kernel) / (gpu_.hbm * default_hbm_share);
    return of_program(std::max(compute, memory) + table_.launch);
  }

  // Peak of the matrix units; a type that the data sheet does not list runs as the nearest wider
  // one that it does.
  static FlopRate peak(const GpuSpec& gpu, Dtype dtype) {
    for (const Dtype candidate : {dtype, Dtype::bf16, Dtype::fp16, Dtype::fp32}) {
      const auto found = gpu.peak.find(candidate);
      if (found != gpu.peak.end()) return found->second;
    }
    throw InputError("GPU " + gpu.name + " has no peak for " + std::string(name_of(dtype)));
  }

  // Of the peak, in kernels of a usual size.
  static double share(const GpuSpec& gpu, KernelClass kind, Dtype dtype = Dtype::bf16) {
    const bool gemm = kind == KernelClass::gemm;
    if (!gemm && gpu.attention) {
      const AttentionRates& rates = *gpu.attention;
      return (kind == forward ? rates.forward : rates.backward) / peak(gpu, Dtype::bf16);
    }
    double reached = default_gemm_share;
    if (!gemm)
      reached =
          kind == forward ? default_attention_forward_share : default_attention_backward_share;
    return std::min(1.0, reached * best_share(gpu, dtype) / achievable_share_where_measured);
  }

  // In the best product of this type; of a type that nobody measured as on the A100.
  static double best_share(const GpuSpec& gpu, Dtype dtype) {
    for (const Dtype candidate : {dtype, Dtype::bf16, Dtype::fp16}) {
      const auto found = gpu.achievable.find(candidate);
      if (found != gpu.achievable.end()) return found->second / gpu.peak.at(candidate);
    }
    return achievable_share_where_measured;
  }

  static Bytes operands(const Kernel& k) {
    const auto number = [](std::int64_t a, std::int64_t b) {
      return static_cast<double>(a) * static_cast<double>(b);
    };
    if (k.kind == KernelClass::gemm) {
      return size_of(k.dtype) * (number(k.m, k.k) + number(k.k, k.n) + number(k.m, k.n));
    }
    const double tokens = number(k.sequences, k.sequence_length);
    const double passes = k.kind == KernelClass::attention_forward ? 2 : 4;
    return size_of(k.dtype) * (passes * tokens * number(k.heads + k.kv_heads, k.head_dim));
  }

  GpuSpec gpu_;
  KernelCalibration table_;
  bool assumed_;
  std::optional<GpuSpec> foreign_;  // the type of the table, where it is another
  std::string note_;
};

// The shipped file, whatever lies in the working folder; read once in a process, since planners
// load a model for every candidate.
const KernelCalibration& shipped_kernels() {
  static const KernelCalibration kernels = load_calibration(default_kernel_file()).kernels.value();
  return kernels;
}

}  // namespace

std::filesystem::path default_kernel_file() {
  return data_folder("calibrate/data") / fmt::format("{}.json", default_kernel_table);
}

std::unique_ptr<ComputeModel> load_compute_model(std::string_view name_or_path,
                                                 const GpuSpec& gpu) {
  std::optional<KernelCalibration> kernels;
  if (!name_or_path.empty()) {
    kernels = load_calibration(resolve_data("calibration", "calibrate/data", name_or_path)).kernels;
    if (kernels && !kernels->surfaces.empty())
      return std::make_unique<KernelModel>(gpu, std::move(*kernels), false);
  }
  KernelCalibration assumed = shipped_kernels();
  if (kernels) {
    assumed.hbm_share = kernels->hbm_share;
    assumed.launch = kernels->launch;
  }
  return std::make_unique<KernelModel>(gpu, std::move(assumed), true);
}

}  // namespace amsp
