// SPDX-License-Identifier: Apache-2.0
// Neutral workloads that other simulators can run side by side: switches of 8 GPUs at 400 GiB/s a
// GPU under one switch at 50 GiB/s a GPU; one ring all-reduce, and a ZeRO-3 step.
#pragma once
#include <memory>

#include "calibrate/collective_model.hpp"
#include "calibrate/compute_model.hpp"
#include "topologies/cluster.hpp"
#include "topologies/network.hpp"
#include "workloads/schedule.hpp"

namespace amsp::neutral {

// ranks / 8 nodes of 8 GPUs, each GPU with a NIC of its own.
ClusterSpec cluster(int ranks);
// All links at their stated rates.
Network network(const ClusterSpec& cluster);

// Pure bandwidth: no latency, no SMs held; a ring at the rate of its slowest edge.
class RingBandwidth : public CollectiveModel {
 public:
  explicit RingBandwidth(const ClusterSpec& cluster) : cluster_(cluster) {}
  CollectiveEstimate estimate(CollectiveKind kind, Bytes bytes, Dtype dtype,
                              const GroupShape& shape) const override;
  AchievableRates achievable() const override { return {}; }

 private:
  const ClusterSpec& cluster_;
};

// Fixed kernels only.
class FixedKernels : public ComputeModel {
 public:
  KernelEstimate estimate(const Kernel& kernel) const override;
};

// One 1 GiB all-reduce over all ranks.
Schedule allreduce(int ranks);
// 32 layers of 404 766 720 B. Forward: the gather of layer l may start once layer l - 2 is
// computed; 4 ms a layer. Backward in reverse: 8 ms a layer, then a reduce-scatter of the layer.
Schedule zero3(int ranks);

}  // namespace amsp::neutral
