// SPDX-License-Identifier: Apache-2.0
// A curve of times over sizes, made never to fall: of all such curves the one that is nearest to it
// in log time. Where links stream it rises by a tenth for twice the bytes at least.
#pragma once
#include <array>
#include <functional>
#include <map>
#include <mutex>
#include <tuple>

#include "base/collective_kind.hpp"
#include "base/quantity.hpp"
#include "calibrate/group_shape.hpp"

namespace amsp {

struct CurvePoint {
  Seconds time;
  double streaming = 0;  // share of the time in which the fullest link carries bytes
};

struct RisingTime {
  Seconds time;
  double log_shift = 0;  // how far the curve was moved here
};

class RisingCurve {
 public:
  // Asks `curve` for the powers of two.
  explicit RisingCurve(const std::function<CurvePoint(Bytes)>& curve);

  // Where the curve takes `time`: between the greatest time of smaller and the least of greater
  // sizes, half way in log time. Where the curve rises, itself. Twice the bytes never take less.
  [[nodiscard]] RisingTime raised(Bytes bytes, Seconds time) const;

 private:
  static constexpr std::size_t points = 48;  // to 128 TiB
  [[nodiscard]] double least_rise(double octave) const;

  std::array<double, points> rise_{};   // least log time since the first point
  std::array<double, points> level_{};  // log seconds beyond that
};

// Those of one calibration, each made once; for any number of threads.
class RisingCurves {
 public:
  // `derived`: not the kind's own fit.
  const RisingCurve& of(CollectiveKind kind, const GroupShape& shape, bool derived,
                        const std::function<CurvePoint(Bytes)>& curve);

 private:
  std::mutex guard_;
  std::map<std::tuple<CollectiveKind, GroupShape, bool>, RisingCurve> known_;
};

}  // namespace amsp
