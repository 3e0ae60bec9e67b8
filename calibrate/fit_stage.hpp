// SPDX-License-Identifier: Apache-2.0
// One least-squares fit of the physical parameters to rows, around a prior.
#pragma once
#include <array>
#include <span>
#include <vector>

#include "calibrate/collective_calibration.hpp"
#include "calibrate/least_squares.hpp"

namespace amsp {

// Logarithms of the parameters: prior and its standard deviation.
struct FitStage {
  std::array<double, parameter_count> prior;
  std::array<double, parameter_count> width;
};

// All kinds together, around NCCL's constants; one kind, around the system's parameters. Sends
// between pairs share neither rate nor step time with the rings.
FitStage system_stage(const PhysicsParameters& defaults);
FitStage kind_stage(const PhysicsParameters& system, CollectiveKind kind);

// The cost has several minima, since NCCL's choices switch: many starts, each for a few steps, and
// the best is finished. `from`: one start, here (logarithms).
LeastSquaresSolution fit_stage(const std::vector<Observation>& rows, const FitStage& stage,
                               const Hardware& hardware, std::span<const double> from = {});

// Whether the row's log says that it was made with what only logs tell of (CollNet).
bool is_stated(const Observation& row);

}  // namespace amsp
