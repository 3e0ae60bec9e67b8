// SPDX-License-Identifier: Apache-2.0
// NCCL's own model of a collective, by which it chooses algorithm and protocol (src/graph/tuning.cc
// and src/enqueue.cc, 2.30.7). It predicts choices, not times: its times are 10 to 30 % off. Here
// is what its algorithms share; each one's own tables are in its file (calibrate/algorithms/).
#pragma once
#include <array>
#include <cstddef>

#include "base/collective_kind.hpp"
#include "base/quantity.hpp"
#include "calibrate/candidate.hpp"
#include "calibrate/group_shape.hpp"

namespace amsp {

enum class GpuGeneration { volta, ampere, hopper, blackwell };

// What NCCL's topology search finds for a communicator: channels and the rate of one of them.
struct NcclGraph {
  int channels = 1;
  Bandwidth inside;       // of one channel inside a node
  Bandwidth across;       // of one channel between nodes
  Bandwidth tree_inside;  // the tree graph's; the search raises it up to twice `across`
  int nvls_channels = 0;
  Bandwidth nvls_inside, nvls_across;
  bool plain_tree = false;    // the search fell back to the plain tree pattern
  bool same_channels = true;  // all channels visit the GPUs in one order
};

struct NcclSystem {
  GpuGeneration generation = GpuGeneration::ampere;
  bool pcie = false;  // GPUs joined by PCIe instead of NVLink
};

struct NcclCall {
  Protocol protocol = Protocol::simple;
  CollectiveKind kind = CollectiveKind::all_reduce;
  Bytes bytes;  // whole buffer
  GroupShape shape;
  int nics = 1;  // that the group uses in each node
};

struct TunerTime {
  Seconds latency;
  Bandwidth algbw;
  [[nodiscard]] Seconds total(Bytes bytes) const { return latency + bytes / algbw; }
};

// What NCCL compares of a candidate: the logarithm of its modelled seconds, and how much of them is
// latency.
struct NcclView {
  double log_time;
  double latency_share;
};

// How far NCCL's modelled times may differ from those here: the deviation of a logarithm. Once
// their factors are fitted the switches that public series show lie within 1 to 5 % of the modelled
// ones; candidates whose modelled times differ by 5 % are taken with odds of 7 to 1. An interval
// takes twice the doubt (collective_curve.cpp).
struct ChoiceDoubt {
  double log_deviation = 0.032;
};

// The graph that the search finds on an NVSwitch node or over a node's NICs.
NcclGraph expected_graph(const GroupShape& shape, Bandwidth gpu_rate, Bandwidth nic_rate, int nics,
                         GpuGeneration generation);

// NCCL's tables in its own units, by which its figures come out to the last digit.
using NcclTime = Quantity<struct MicrosecondUnit>;
using NcclRate = Quantity<struct GigabytePerSecondUnit>;
TunerTime tuner_time_of(NcclTime latency, NcclRate algbw);

namespace nccl_table {

using ByProtocol = std::array<double, 3>;                   // LL, LL128, Simple
using ByGeneration = std::array<std::array<double, 3>, 4>;  // rows as GpuGeneration,
inline std::size_t column(int nodes) { return nodes < 3 ? static_cast<std::size_t>(nodes - 1) : 2; }
inline std::size_t at(Protocol protocol) { return static_cast<std::size_t>(protocol); }
inline std::size_t at(GpuGeneration generation) { return static_cast<std::size_t>(generation); }

// Microseconds: hops of a chain inside a node, hops of a tree or between nodes of one GPU each.
constexpr ByProtocol nvlink_tree{0.6, 1.25, 4.0}, pcie_tree{1.0, 1.9, 4.0}, net_tree{5.0, 8.5, 14};

}  // namespace nccl_table

int floor_log2(int n);
// 2(n-1) steps of an all_reduce, n-1 of a gather or scatter, n of a chain.
double nccl_steps(CollectiveKind kind, const GroupShape& shape);
// All channels together, each at `inside` on up to two nodes and at the graph's `across` beyond.
NcclRate bus_of(const NcclGraph& graph, Bandwidth inside, const GroupShape& shape);
// The most that LL reaches, all channels together.
NcclRate most_of_ll(const GroupShape& shape, const NcclSystem& system);
// NVLS inside a node: its time, a head's part of its rate; the channels of its kernels.
constexpr NcclTime nvls_hop_inside = NcclTime(25);
int nvls_channels(GpuGeneration generation);
NcclRate nvls_inside(CollectiveKind kind, const GroupShape& shape, const NcclGraph& graph,
                     const NcclSystem& system);

}  // namespace amsp
