// SPDX-License-Identifier: Apache-2.0
#include "calibrate/collective_calibration.hpp"

#include <algorithm>
#include <cmath>

#include "calibrate/nccl_algorithm.hpp"

namespace amsp {

Kriging::Place correction_place(const KindFit& fit, Bytes bytes, const GroupShape& shape,
                                const Hardware& hardware) {
  const double ranks = std::log2(static_cast<double>(shape.ranks));
  const double nics = shape.nodes > 1 ? nics_used(shape, hardware) : 1;
  const double local = shape.nodes > 1 ? shape.ranks_per_node : 1;
  return {{std::log2(std::max(1.0, bytes.value())) - fit.rotation * ranks, ranks, std::log2(nics),
           std::log2(local)},
          correction_domain(shape),
          choice_mixture(fit.kind, bytes, shape, hardware, fit.parameters)};
}

std::vector<Kriging::Point> correction_points(const KindFit& fit, const Hardware& hardware) {
  std::vector<Kriging::Point> points;
  for (std::size_t i = 0; i < fit.rows.size(); ++i) {
    const Observation& row = fit.rows[i];
    const PhysicsTime physics =
        physics_time(row.kind, row.bytes, row.shape, hardware, fit.parameters);
    const double trust = std::max(0.02, fit.trust[i] * fit.trust[i]);
    const double doubt = 1 / (size_weight(row.bytes) * trust);
    points.push_back({correction_place(fit, row.bytes, row.shape, hardware),
                      std::log(row.time / physics.total()), doubt});
  }
  return points;
}

Kriging make_correction(const KindFit& fit, const Kernel3& kernel, const Hardware& hardware) {
  return Kriging(correction_points(fit, hardware), kernel);
}

double CurveValue::factor90() const { return std::exp(z90 * log_deviation); }

const KindFit* CollectiveCalibration::find(CollectiveKind kind) const {
  for (const KindFit& fit : kinds) {
    if (fit.kind == kind) return &fit;
  }
  return nullptr;
}

AchievableRates CollectiveCalibration::achievable() const {
  double port = defaults[Parameter::rate_inside] / hardware.ring_share;
  double nic = defaults[Parameter::rate_nic];
  const auto cover = [&](const PhysicsParameters& p) {
    const double inside = p[Parameter::rate_inside] / hardware.ring_share;
    port = std::max({port, inside, hardware.nvls ? p[Parameter::rate_nvls] : 0});
    nic = std::max(nic, p[Parameter::rate_nic]);
    if (hardware.collnet != CollnetUse::never) nic = std::max(nic, p[Parameter::rate_collnet]);
  };
  if (!kinds.empty()) {
    port = nic = 0;
    cover(system.parameters);
  }
  for (const KindFit& fit : kinds) {
    cover(fit.parameters);
    for (const Observation& row : fit.rows) {
      const PhysicsTime physics =
          physics_time(row.kind, row.bytes, row.shape, hardware, fit.parameters);
      const WireBytes wire = physics.candidate.algorithm->wire_bytes(
          row.kind, row.bytes, row.shape, nics_used(row.shape, hardware));
      // A data sheet's rate cannot be exceeded: such a row took another algorithm.
      port = std::max(port, std::min((wire.port / row.time).value(), hardware.gpu_rate.value()));
      nic = std::max(nic, std::min((wire.nic / row.time).value(), hardware.nic_rate.value()));
    }
  }
  return {Bandwidth(port), Bandwidth(nic)};
}

}  // namespace amsp
