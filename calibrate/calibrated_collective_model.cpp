// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "base/file.hpp"
#include "calibrate/calibration.hpp"
#include "calibrate/default_collective_model.hpp"
#include "calibrate/sm_share.hpp"

namespace amsp {
namespace {

class CalibratedCollectiveModel : public CollectiveModel {
 public:
  CalibratedCollectiveModel(CollectiveCalibration calibration, std::string note)
      : calibration_(std::move(calibration)),
        note_(std::move(note)),
        rates_(calibration_.achievable()) {}

  CollectiveEstimate estimate(CollectiveKind kind, Bytes bytes, Dtype,
                              const GroupShape& shape) const override {
    CollectiveEstimate estimate;
    estimate.algorithm = "ring";
    estimate.protocol = "Simple";
    estimate.range = PredictionRange::measured;
    if (shape.ranks < 2) return estimate;
    const CurveValue value = calibration_.at(kind, bytes, shape);
    const Candidate& candidate = value.physics.candidate;
    const Hardware& hardware = calibration_.hardware;
    const WireBytes wire =
        wire_bytes(kind, candidate.algorithm, bytes, shape, nics_used(shape, hardware));
    // Never faster than the wire; the correction must not say so either.
    const Seconds bound = std::max(wire.port / rates_.gpu_intra, wire.nic / rates_.nic);
    estimate.time = std::max(value.time, bound);
    const double share = value.physics.transfer / value.physics.total();
    estimate.fluid = std::clamp(estimate.time * share, bound, estimate.time);
    estimate.latency = estimate.time - estimate.fluid;
    const double factor = value.factor90();
    estimate.low = std::max(estimate.time / factor, bound);
    estimate.high = estimate.time * factor;
    estimate.algorithm = name_of(candidate.algorithm);
    estimate.protocol = name_of(candidate.protocol);
    estimate.range = value.range;
    estimate.range_note = note_ + (note_.empty() || value.note.empty() ? "" : "; ") + value.note;
    estimate.sm_share = sm_share(candidate, bytes, shape, hardware);
    return estimate;
  }

  AchievableRates achievable() const override { return rates_; }

 private:
  CollectiveCalibration calibration_;
  std::string note_;
  AchievableRates rates_;
};

// A calibration describes the cluster it was made on; on another one its figures are no
// measurement, and the user should know.
std::string foreign_note(const Calibration& calibration, const ClusterSpec& cluster) {
  const ClusterSpec own = calibration.made_on();
  if (own.node.gpu.name == cluster.node.gpu.name && own.node.gpus == cluster.node.gpus &&
      own.node.nics.size() == cluster.node.nics.size()) {
    return "";
  }
  return "calibrated on " + own.name + ", used on " + cluster.name;
}

}  // namespace

std::unique_ptr<CollectiveModel> calibrated_collective_model(CollectiveCalibration calibration,
                                                             std::string note) {
  return std::make_unique<CalibratedCollectiveModel>(std::move(calibration), std::move(note));
}

std::unique_ptr<CollectiveModel> load_collective_model(std::string_view name_or_path,
                                                       const ClusterSpec& cluster) {
  if (name_or_path.empty()) return default_collective_model(cluster);
  Calibration calibration =
      load_calibration(resolve_data("calibration", "calibrate/data", name_or_path));
  if (!calibration.collectives) return default_collective_model(cluster);
  std::string note = foreign_note(calibration, cluster);
  return calibrated_collective_model(std::move(*calibration.collectives), std::move(note));
}

}  // namespace amsp
