// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "base/file.hpp"
#include "calibrate/calibration.hpp"
#include "calibrate/default_collective_model.hpp"
#include "calibrate/foreign_cluster.hpp"
#include "calibrate/nccl_algorithm.hpp"
#include "calibrate/nic_line_rate.hpp"
#include "calibrate/rising_curve.hpp"
#include "calibrate/sm_share.hpp"

namespace amsp {
namespace {

class CalibratedCollectiveModel : public CollectiveModel {
 public:
  CalibratedCollectiveModel(CollectiveCalibration calibration, AchievableRates rates,
                            std::string foreign, std::string guess)
      : calibration_(std::move(calibration)),
        rates_(rates),
        foreign_(std::move(foreign)),
        guess_(std::move(guess)) {}

  CollectiveEstimate estimate(CollectiveKind kind, Bytes bytes, Dtype,
                              const GroupShape& shape) const override {
    CollectiveEstimate estimate;
    estimate.algorithm = "ring";
    estimate.protocol = "Simple";
    estimate.range = PredictionRange::measured;
    if (shape.ranks < 2) return estimate;
    const CurveValue value = at(kind, bytes, shape);
    const Candidate& candidate = value.physics.candidate;
    const Hardware& hardware = calibration_.hardware;
    const WireBytes wire =
        candidate.algorithm->wire_bytes(kind, bytes, shape, nics_used(shape, hardware));
    // Never faster than the wire; the correction must not say so either.
    const Seconds bound = std::max(wire.port / rates_.gpu_intra, wire.nic / rates_.nic);
    estimate.time = std::max(value.time, bound);
    const double share = value.physics.transfer / value.physics.total();
    estimate.fluid = std::clamp(estimate.time * share, bound, estimate.time);
    estimate.latency = estimate.time - estimate.fluid;
    const double factor = value.factor90();
    // The wire's rates are fitted, too: a measurement can be faster by what repeated runs differ.
    const double scatter = std::exp(CurveValue::z90 * CurveValue::least_deviation);
    estimate.low = std::max(estimate.time / factor, bound / scatter);
    estimate.high = estimate.time * factor;
    estimate.algorithm = name_of(candidate.algorithm);
    estimate.protocol = name_of(candidate.protocol);
    estimate.range = value.range;
    estimate.range_note =
        foreign_ + (foreign_.empty() || value.note.empty() ? "" : "; ") + value.note;
    estimate.sm_share = sm_share(candidate, bytes, shape, hardware);
    return estimate;
  }

  AchievableRates achievable() const override { return rates_; }
  std::string note() const override {
    return foreign_ + (foreign_.empty() || guess_.empty() ? "" : "; ") + guess_;
  }

 private:
  CurveValue at(CollectiveKind kind, Bytes bytes, const GroupShape& shape) const {
    CurveValue value = calibration_.at(kind, bytes, shape, &risen_);
    if (foreign_.empty()) return value;
    value.range = std::max(value.range, PredictionRange::extrapolated);
    // As uncertain as the default models: 30 % either way.
    value.log_deviation = std::hypot(value.log_deviation, 0.3 / CurveValue::z90);
    return value;
  }

  CollectiveCalibration calibration_;
  mutable RisingCurves risen_;
  AchievableRates rates_;
  std::string foreign_;  // that it was made on other hardware
  std::string guess_;    // what was assumed of the cluster that it was made on
};

}  // namespace

std::unique_ptr<CollectiveModel> calibrated_collective_model(CollectiveCalibration calibration) {
  const AchievableRates rates = calibration.achievable();
  return std::make_unique<CalibratedCollectiveModel>(std::move(calibration), rates, "", "");
}

std::unique_ptr<CollectiveModel> load_collective_model(std::string_view name_or_path,
                                                       const ClusterSpec& cluster) {
  if (name_or_path.empty()) return default_collective_model(cluster);
  Calibration calibration =
      load_calibration(resolve_data("calibration", "calibrate/data", name_or_path));
  if (!calibration.collectives) return default_collective_model(cluster);
  const ClusterSpec own = calibration.made_on();
  if (same_hardware(own, cluster)) {
    const AchievableRates rates = calibration.collectives->achievable();
    return std::make_unique<CalibratedCollectiveModel>(std::move(*calibration.collectives), rates,
                                                       "", guessed_nic_rate(own));
  }
  ForeignCalibration moved = moved_to(cluster, std::move(*calibration.collectives), own);
  return std::make_unique<CalibratedCollectiveModel>(std::move(moved.calibration), moved.rates,
                                                     std::move(moved.note), guessed_nic_rate(own));
}

}  // namespace amsp
