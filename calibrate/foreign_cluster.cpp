// SPDX-License-Identifier: Apache-2.0
#include "calibrate/foreign_cluster.hpp"

#include <fmt/format.h>

namespace amsp {
namespace {

double ratio(Bandwidth to, Bandwidth from) {
  return to > Bandwidth(0) && from > Bandwidth(0) ? to / from : 1.0;
}

// `nics`: of all NICs of a node.
void scale(PhysicsParameters& parameters, double inside, double nic, double nics) {
  parameters[Parameter::rate_inside] *= inside;
  parameters[Parameter::rate_nvls] *= inside;
  parameters[Parameter::rate_nic] *= nic;
  parameters[Parameter::rate_collnet] *= nic;
  parameters[Parameter::ceiling_ll128] *= nics;
}

}  // namespace

bool same_hardware(const ClusterSpec& a, const ClusterSpec& b) {
  const Hardware one = hardware_of(a), other = hardware_of(b);
  return a.node.gpu.name == b.node.gpu.name && one.gpus_per_node == other.gpus_per_node &&
         one.nics_per_node == other.nics_per_node && one.gpu_rate == other.gpu_rate &&
         one.nic_rate == other.nic_rate;
}

ForeignCalibration moved_to(const ClusterSpec& cluster, CollectiveCalibration calibration,
                            const ClusterSpec& made_on) {
  const Hardware to = hardware_of(cluster), from = hardware_of(made_on);
  const double inside = ratio(to.gpu_rate, from.gpu_rate);
  const double nic = ratio(to.nic_rate, from.nic_rate);
  const AchievableRates reached = calibration.achievable();
  ForeignCalibration moved{
      std::move(calibration), {reached.gpu_intra * inside, reached.nic * nic}, ""};
  const double nics = nic * to.nics_per_node / from.nics_per_node;
  scale(moved.calibration.defaults, inside, nic, nics);
  scale(moved.calibration.system.parameters, inside, nic, nics);
  for (KindFit& fit : moved.calibration.kinds) scale(fit.parameters, inside, nic, nics);
  const NcclVersion nccl = moved.calibration.hardware.nccl;
  moved.calibration.hardware = to;
  moved.calibration.hardware.nccl = nccl;
  moved.note = fmt::format(
      "collectives calibrated on {}, used on {}: port rates x {:.3g}, NIC rates x {:.3g} by the "
      "data sheets",
      made_on.name, cluster.name, inside, nic);
  return moved;
}

}  // namespace amsp
