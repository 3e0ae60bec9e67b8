// SPDX-License-Identifier: Apache-2.0
// Where a question stands among what was measured of a kind: inside the measured scales and sizes
// or how far beyond them.
#pragma once
#include <optional>
#include <string>

#include "calibrate/collective_calibration.hpp"

namespace amsp {

struct Standing {
  PredictionRange range = PredictionRange::measured;
  double octaves = 0;          // of extrapolation over the scales
  double size_octaves = 0;     // … and over the sizes,
  Bytes nearest;               // from this measured one
  bool scale_measured = true;  // the scale lies among measured ones, no further than 4x apart
  std::string note;
};

// None where nothing was measured of the kind in the question's domain (inside a node, or across).
std::optional<Standing> standing_of(const KindFit& fit, Bytes bytes, const GroupShape& shape,
                                    const Hardware& hardware);

}  // namespace amsp
