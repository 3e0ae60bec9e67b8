// SPDX-License-Identifier: Apache-2.0
// The parameters of the physical model of a collective's time (physics.hpp).
#pragma once
#include <array>
#include <cstddef>
#include <string_view>

#include "base/quantity.hpp"
#include "calibrate/candidate.hpp"

namespace amsp {

struct ClusterSpec;

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

// NCCL's published constants (src/graph/tuning.cc, 2.30.7) and achieved bandwidths of public logs;
// start values of a fit; the default model takes longer latencies.
PhysicsParameters default_parameters(const ClusterSpec& cluster);

// The parameter of a protocol: of base, inside and across the one named is LL's.
Seconds of_protocol(const PhysicsParameters& parameters, Parameter ll, Protocol protocol);

}  // namespace amsp
