// SPDX-License-Identifier: Apache-2.0
// NCCL's own model of a collective, by which it chooses algorithm and protocol (src/graph/tuning.cc
// and src/enqueue.cc, 2.30.7). It predicts choices, not times: its times are 10 to 30 % off.
#pragma once
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
  bool pcie = false;     // GPUs joined by PCIe instead of NVLink
  bool amd_cpu = false;  // network overhead 2 us instead of 1
};

struct TunerTime {
  Seconds latency;
  Bandwidth algbw;
  [[nodiscard]] Seconds total(Bytes bytes) const { return latency + bytes / algbw; }
};

// NCCL's modelled time of a candidate for `bytes` (whole buffer), with its size corrections.
TunerTime tuner_time(const Candidate& candidate, CollectiveKind kind, Bytes bytes,
                     const GroupShape& shape, const NcclGraph& graph, const NcclSystem& system);

// The graph that the search finds on an NVSwitch node or over a node's NICs.
NcclGraph expected_graph(const GroupShape& shape, Bandwidth gpu_rate, Bandwidth nic_rate, int nics,
                         GpuGeneration generation);

}  // namespace amsp
