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
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "base/collective_kind.hpp"
#include "base/quantity.hpp"
#include "calibrate/candidate.hpp"
#include "calibrate/group_shape.hpp"
#include "calibrate/nccl_tuner.hpp"
#include "calibrate/nccl_version.hpp"
#include "topologies/cluster.hpp"

namespace amsp {

// The parameters; each is positive and is fitted as its logarithm.
enum class Parameter : std::size_t {
  base_ll,  // launch and synchronisation
  base_ll128,
  base_simple,
  inside_ll,  // one hop over NVLink
  inside_ll128,
  inside_simple,
  across_ll,  // one hop over the network, for a small message
  across_ll128,
  across_simple,
  across_growth,  // a hop across takes (nodes / 2)^growth as long: more switches, later stragglers
  overlap,        // p of a ring: how well the way around and the streaming overlap
  step_bytes,     // the most that a ring sends over one NIC as one piece (slices)
  tree_step,      // a tree's hop over the network relative to a ring's …
  tree_growth,    // … and how much longer it takes with full chunks
  rate_inside,    // one GPU's port
  rate_nic,       // one NIC
  ceiling_ll,     // LL: total rate of a collective between nodes
  ceiling_ll128,  // the same of a ring's LL128
  share_ll128,    // LL128: share of the Simple rate
  share_tree,     // tree: share of a ring's rate …
  tree_loss,      // … whose time grows by this for each two nodes more
  rate_nvls,      // NVLS: one GPU's port
  latency_nvls,
  choose_ll,  // factor on NCCL's own modelled time of LL candidates when it chooses
  choose_ll128,
  choose_tree,       // … on its streaming part alone, of trees over two nodes
  choose_wide_tree,  // … and over more, for which NCCL takes another rate of its search
  choose_nvls,
  gap_simple,  // a step of a Simple ring takes no less than this (LogGP's g of its messages) …
  small_step,  // … where it sends more bytes than this over each NIC; with fewer in proportion …
  small_stretch,    // … and so much longer, since small messages may go another way
  ll_step,          // bytes of a ring's step over each NIC up to which LL has its ceiling
  latency_collnet,  // CollNet: from a NIC through the adding switches and back
  rate_collnet,     // … and one NIC's rate; these two last: files without CollNet leave them out
  count
};
constexpr std::size_t parameter_count = static_cast<std::size_t>(Parameter::count);
constexpr std::size_t parameters_without_collnet = parameter_count - 2;
std::string_view name_of(Parameter parameter);
enum class ParameterUnit { seconds, bytes_per_second, bytes, ratio };
ParameterUnit unit_of(Parameter parameter);

// Values in SI units, wrapped so that no bare array of doubles crosses a function boundary.
struct PhysicsParameters {
  std::array<double, parameter_count> values{};
  double& operator[](Parameter p) { return values[static_cast<std::size_t>(p)]; }
  double operator[](Parameter p) const { return values[static_cast<std::size_t>(p)]; }
};

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

// NCCL's published constants (src/graph/tuning.cc, 2.30.7) and achieved bandwidths of public logs;
// start values of a fit; the default model takes longer latencies.
PhysicsParameters default_parameters(const ClusterSpec& cluster);

// NICs that a group uses in each node.
int nics_used(const GroupShape& shape, const Hardware& hardware);

// Bytes on the fullest GPU port and the fullest NIC.
struct WireBytes {
  Bytes port;
  Bytes nic;
};

// The parameter of a protocol: of base, inside and across the one named is LL's.
Seconds of_protocol(const PhysicsParameters& parameters, Parameter ll, Protocol protocol);

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
