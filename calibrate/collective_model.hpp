// SPDX-License-Identifier: Apache-2.0
// How long a collective takes when it is alone on the machine (docs/model.md, "Collectives").
//
//   time = latency + bytes on the wire / bandwidth        (the fluid phase)
//
// `bandwidth` is the bus bandwidth that the chosen algorithm and protocol reach; the simulator
// gives the fluid phase to the links, so that contention stretches it.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/collective_kind.hpp"
#include "base/dtype.hpp"
#include "base/quantity.hpp"
#include "calibrate/group_shape.hpp"
#include "topologies/cluster.hpp"
#include "topologies/network.hpp"

namespace amsp {

enum class PredictionRange { measured, extrapolated, default_model };
std::string_view name_of(PredictionRange range);  // "measured range", "extrapolated", "default"

struct CollectiveEstimate {
  Seconds time;           // latency + fluid
  Seconds low, high;      // 90 % prediction interval of `time`
  Seconds latency;        // no link is held during it
  Seconds fluid;          // time - latency; the links are held during it
  std::string algorithm;  // registered algorithm: "ring", "tree", "nvls" … gives the traffic
  std::string protocol;   // "LL", "LL128", "Simple"
  PredictionRange range = PredictionRange::default_model;
  std::string range_note;  // how far beyond the fitted sizes or scales; may be empty
  double sm_share = 0;     // share of the GPU's SMs that the running collective holds
};

class CollectiveModel {
 public:
  virtual ~CollectiveModel() = default;
  // `bytes` is the whole buffer (base/collective_kind.hpp). One rank: zero time.
  [[nodiscard]] virtual CollectiveEstimate estimate(CollectiveKind kind, Bytes bytes, Dtype dtype,
                                                    const GroupShape& shape) const = 0;
  // Achievable link rates for the network graph; never below what estimate() needs.
  [[nodiscard]] virtual AchievableRates achievable() const = 0;
  // What a reader of every figure has to know; "" = nothing.
  [[nodiscard]] virtual std::string note() const { return {}; }
};

// A calibration file (docs/formats/calibration.md) for this cluster; "" = none: the default model
// from data-sheet rates and latencies of public logs, every estimate marked `default_model`.
std::unique_ptr<CollectiveModel> load_collective_model(std::string_view name_or_path,
                                                       const ClusterSpec& cluster);

}  // namespace amsp
