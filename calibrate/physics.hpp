// SPDX-License-Identifier: Apache-2.0
// The physical model of a collective's time (docs/model/20-collectives.md): for each algorithm and
// protocol that NCCL could take,
//
//   time = base + hops inside x l_in + hops across x l_out      (latency)
//        + max(NVLink bytes / b_in, NIC bytes / b_nic) / efficiency(protocol)
//
// with the bytes that the algorithm really puts on the fullest GPU port and the fullest NIC.
#pragma once
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "base/collective_kind.hpp"
#include "base/quantity.hpp"
#include "calibrate/group_shape.hpp"
#include "topologies/cluster.hpp"

namespace amsp {

enum class Protocol { ll, ll128, simple };
enum class Algorithm { ring, tree, nvls, nvls_tree, pat, pairwise };
std::string_view name_of(Protocol protocol);    // "LL", "LL128", "Simple"
std::string_view name_of(Algorithm algorithm);  // the registered algorithm of that name

struct Candidate {
  Algorithm algorithm;
  Protocol protocol;
  bool operator==(const Candidate&) const = default;
};

// The parameters; each is positive and is fitted as its logarithm.
enum class Parameter : std::size_t {
  base_ll,  // launch and first hop
  base_ll128,
  base_simple,
  inside_ll,  // one hop over NVLink
  inside_ll128,
  inside_simple,
  across_ll,  // one hop over the network
  across_ll128,
  across_simple,
  tree_across,   // a tree's hop over the network relative to a ring's
  rate_inside,   // one GPU's port
  rate_nic,      // one NIC
  ceiling_ll,    // LL: total rate of a collective
  share_ll128,   // LL128: share of the Simple rate
  share_tree,    // tree: share of the ring's rate
  rate_nvls,     // NVLS: one GPU's port
  latency_nvls,  // NVLS: one operation
  ramp_bytes,    // bytes per rank and step at which half of the step is start-up
  plateau,       // how much longer a Simple ring's step takes once its slices are full
  count
};
constexpr std::size_t parameter_count = static_cast<std::size_t>(Parameter::count);
std::string_view name_of(Parameter parameter);
enum class ParameterUnit { seconds, bytes_per_second, bytes, ratio };
ParameterUnit unit_of(Parameter parameter);

// Values in SI units. Wrapped so that no bare array of doubles crosses a function boundary.
struct PhysicsParameters {
  std::array<double, parameter_count> values{};
  double& operator[](Parameter p) { return values[static_cast<std::size_t>(p)]; }
  double operator[](Parameter p) const { return values[static_cast<std::size_t>(p)]; }
};

// What the cluster offers a group; from the cluster's description.
struct Hardware {
  int nics_per_node = 1;
  int gpus_per_node = 8;
  bool nvls = false;  // NVLink SHARP: NVSwitch and Hopper or later
  bool ll128 = true;  // NCCL allows LL128 only over NVLink and PCIe paths without a CPU
  int multiprocessors = 0;
  int channels_inside = 1;  // NCCL's channels in one node, and across
  int channels_across = 1;
  int channels_nvls = 16;
};

Hardware hardware_of(const ClusterSpec& cluster);

// NCCL's published constants (src/graph/tuning.cc, 2.30.7) and achieved bandwidths of public logs;
// used where nothing was measured, and as start values of a fit.
PhysicsParameters default_parameters(const ClusterSpec& cluster);

// Bytes on the fullest GPU port and the fullest NIC, by closed form.
struct WireBytes {
  Bytes port;
  Bytes nic;
};
WireBytes wire_bytes(CollectiveKind kind, Algorithm algorithm, Bytes bytes, const GroupShape& shape,
                     int nics);

struct PhysicsTime {
  Candidate candidate;
  Seconds latency;
  Seconds transfer;
  [[nodiscard]] Seconds total() const { return latency + transfer; }
};

// The candidates that NCCL could take, and their times.
std::vector<Candidate> candidates(CollectiveKind kind, const GroupShape& shape,
                                  const Hardware& hardware);
PhysicsTime candidate_time(const Candidate& candidate, CollectiveKind kind, Bytes bytes,
                           const GroupShape& shape, const Hardware& hardware,
                           const PhysicsParameters& parameters);
// The fastest candidate.
PhysicsTime physics_time(CollectiveKind kind, Bytes bytes, const GroupShape& shape,
                         const Hardware& hardware, const PhysicsParameters& parameters);

}  // namespace amsp
