// SPDX-License-Identifier: Apache-2.0
// The fitted model of a cluster's collectives: physics with fitted parameters for every kind, and
// a smooth correction where measurements are near (docs/model/20-collectives.md).
#pragma once
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_value.hpp"
#include "calibrate/collective_model.hpp"
#include "calibrate/kriging.hpp"
#include "calibrate/physics.hpp"

namespace amsp {

// One measured time; `bytes` is the whole buffer.
class RisingCurves;

struct Observation {
  CollectiveKind kind = CollectiveKind::all_reduce;
  GroupShape shape;
  Bytes bytes;
  Seconds time;
  std::string source;                         // file, as given; its short name in a calibration
  std::string place;                          // line
  std::optional<Algorithm> forced_algorithm;  // not NCCL's own choice
  std::optional<Protocol> forced_protocol;
  std::optional<NcclVersion> nccl;  // that the log names
  int run = 0;                      // which of all runs read it comes from
};

// Log-parameters' uncertainty: rows and columns in the order of Parameter.
using Covariance = std::array<std::array<double, parameter_count>, parameter_count>;

struct KindFit {
  CollectiveKind kind = CollectiveKind::all_reduce;
  PhysicsParameters parameters;
  Covariance covariance{};
  std::vector<Observation> rows;
  std::vector<double> trust;  // of each row: 1 = believed, small = an outlier
  double rotation = 0;        // sizes are compared as bytes / ranks^rotation
  Kriging correction;
  double line_share = 0;  // of the straight line through a group's own measured times
  // Widen intervals until nine of ten left-out rows lie inside; sizes from 16 MiB, and below.
  double interval_factor = 1;
  double small_interval_factor = 1;
  // … but of what the physics alone miss of measured rows (deviation of log time) no further.
  double most_deviation = 1;
  double small_most_deviation = 1;
  // Deviation of log time for each doubling of the scale beyond the measured ones: what this one's
  // own largest scales surprise the physics of the others (fit_intervals.cpp).
  double scale_growth = 0.14;
  double spread = 0.05;  // robust deviation of log(measured / physics)
};

struct CurveValue {
  Seconds time;
  double log_deviation = 0;  // standard deviation of the logarithm of one measurement
  PhysicsTime physics;
  PredictionRange range = PredictionRange::default_model;
  std::string note;

  // The 90 % interval of `time` reaches from time / factor to time x factor.
  [[nodiscard]] double factor90() const;
  // Standard deviations in the half of a two-sided 90 % interval of a normal distribution.
  static constexpr double z90 = 1.6449;
  static constexpr double least_deviation = 0.02;  // repeated runs differ by that much
};

class CollectiveCalibration {
 public:
  Hardware hardware;
  PhysicsParameters defaults;  // where nothing was measured
  KindFit system;              // all kinds together; rows empty: serves kinds without rows
  std::vector<KindFit> kinds;  // measured ones

  // `known`: curves that earlier calls made, kept by who calls often.
  [[nodiscard]] CurveValue at(CollectiveKind kind, Bytes bytes, const GroupShape& shape,
                              RisingCurves* known = nullptr) const;
  [[nodiscard]] const KindFit* find(CollectiveKind kind) const;
  // Rates that no measured row and no estimate exceeds.
  [[nodiscard]] AchievableRates achievable() const;
};

// Coordinates of the correction: log2 of the size, ranks, NICs and ranks per node; its domain
// (inside one node, or across) and the mixture of NCCL's choices.
Kriging::Place correction_place(const KindFit& fit, Bytes bytes, const GroupShape& shape,
                                const Hardware& hardware);
inline int correction_domain(const GroupShape& shape) { return shape.nodes > 1 ? 1 : 0; }
// Rebuilds the correction from the rows, the parameters and a kernel.
Kriging make_correction(const KindFit& fit, const Kernel3& kernel, const Hardware& hardware);
std::vector<Kriging::Point> correction_points(const KindFit& fit, const Hardware& hardware);

using FitPart = std::function<void(std::string_view)>;
struct FitOptions {
  bool correct = true;  // false: physics alone
  FitPart part = {};    // told which part of the fit begins
};
CollectiveCalibration fit_collectives(std::vector<Observation> rows, const ClusterSpec& cluster,
                                      const FitOptions& options = {});

// The fit as the simulator asks it, on the cluster that it was made on.
std::unique_ptr<CollectiveModel> calibrated_collective_model(CollectiveCalibration calibration);

// "Large" means from 16 MiB: smaller sizes are judged apart.
constexpr Bytes large_size = Bytes(16777216.0);

// Small sizes scatter by up to 30 % between runs: they weigh less.
double size_weight(Bytes bytes);

CollectiveCalibration read_collective_calibration(const JsonValue& json,
                                                  const ClusterSpec& cluster);
std::string to_json(const CollectiveCalibration& calibration);

}  // namespace amsp
