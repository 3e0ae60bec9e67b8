// SPDX-License-Identifier: Apache-2.0
// The physical model of a collective's time (docs/model/20-collectives.md). For each algorithm and
// protocol that NCCL could take,
//
//   path     = hops inside x (l_in + piece / b_in) + hops across x (l_out + piece / b_nic)
//   transfer = max(NVLink bytes / b_in, NIC bytes / b_nic) / efficiency
//   time     = base + (path^p + transfer^p)^(1/p)
//
// with the bytes that the algorithm (nccl_algorithm.hpp) puts on the fullest GPU port and NIC: a
// ring takes the longer of both, with a soft passage (p); chains, trees and pairs fill and then
// stream (p = 1). NCCL's own model (nccl_tuner.hpp) decides which it takes, not the true minimum.
#pragma once
#include <vector>

#include "base/collective_kind.hpp"
#include "base/quantity.hpp"
#include "calibrate/candidate.hpp"
#include "calibrate/group_shape.hpp"
#include "calibrate/nccl_tuner.hpp"
#include "calibrate/nccl_version.hpp"
#include "calibrate/physics_parameters.hpp"
#include "topologies/cluster.hpp"

namespace amsp {

// Whether NCCL reduces in the network: only if the logs say so; always: with NCCL_ALGO=CollNet.
enum class CollnetUse { never, by_tuner, always };
// What the cluster offers a group; from the cluster's description.
struct Hardware {
  int nics_per_node = 1;
  int gpus_per_node = 8;
  bool nvls = false;  // NVLink SHARP: NVSwitch and Hopper or later
  CollnetUse collnet = CollnetUse::never;
  NcclVersion nccl = assumed_nccl;
  bool ll128_inside = true;  // NCCL allows LL128 only over NVLink and PCIe paths without a CPU;
  bool ll128_across = true;  // between nodes, whether a NIC hangs on a CPU decides
  // In a mesh of NVLinks a group of few GPUs, or a pair, reaches only a share of rate_inside.
  std::vector<double> port_share;  // by GPUs of the group on a node; empty: 1
  double pair_share = 1;
  double ring_share = 1;  // of a port's data-sheet rate that lies on rings
  Bandwidth gpu_rate;     // data sheet: one GPU's port, one NIC
  Bandwidth nic_rate;
  NcclSystem system;
  int multiprocessors = 0;
};
Hardware hardware_of(const ClusterSpec& cluster);

// NICs that a group uses in each node.
int nics_used(const GroupShape& shape, const Hardware& hardware);

// Bytes on the fullest GPU port and the fullest NIC.
struct WireBytes {
  Bytes port;
  Bytes nic;
};

struct PhysicsTime {
  Candidate candidate;  // the one that NCCL most probably takes
  Seconds latency;
  Seconds transfer;
  double choice_deviation = 0;  // of log time, over what NCCL may take
  [[nodiscard]] Seconds total() const { return latency + transfer; }
};

// The candidates that NCCL could take, and the time of one.
std::vector<Candidate> candidates(CollectiveKind kind, const GroupShape& shape,
                                  const Hardware& hardware);
PhysicsTime candidate_time(const Candidate& candidate, CollectiveKind kind, Bytes bytes,
                           const GroupShape& shape, const Hardware& hardware,
                           const PhysicsParameters& parameters);
// NCCL's modelled times of all candidates: they do not depend on fitted parameters.
struct ChoiceTable {
  std::vector<Candidate> candidates;
  std::vector<NcclView> views;  // of each
};
ChoiceTable choice_table(CollectiveKind kind, Bytes bytes, const GroupShape& shape,
                         const Hardware& hardware);
// The time of NCCL's choice. Within about 5 % of a switch between two candidates it passes smoothly
// from one to the other, further with more doubt (geometric mean by the odds).
PhysicsTime physics_time(CollectiveKind kind, Bytes bytes, const GroupShape& shape,
                         const Hardware& hardware, const PhysicsParameters& parameters,
                         ChoiceDoubt doubt = {});
PhysicsTime physics_time(const ChoiceTable& table, CollectiveKind kind, Bytes bytes,
                         const GroupShape& shape, const Hardware& hardware,
                         const PhysicsParameters& parameters, ChoiceDoubt doubt = {});
// Square roots of the shares of each candidate, at one place for each algorithm and protocol.
std::vector<double> choice_mixture(CollectiveKind kind, Bytes bytes, const GroupShape& shape,
                                   const Hardware& hardware, const PhysicsParameters& parameters);

}  // namespace amsp
