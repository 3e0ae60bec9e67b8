// SPDX-License-Identifier: Apache-2.0
// Small clusters, models and schedules for the tests of the simulator.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "calibrate/collective_model.hpp"
#include "calibrate/compute_model.hpp"
#include "sim/replay.hpp"
#include "topologies/network.hpp"

namespace amsp::toy {

// Nodes of `gpus` GPUs on an NVSwitch at 100 GB/s, `nics` NICs of 10 GB/s, leaves of two nodes
// under two spines.
ClusterSpec cluster(int nodes, int gpus, int nics, double oversubscription = 1);
Network network(const ClusterSpec& cluster);

// latency as given; fluid = bus bytes / the given rate; always the ring.
class RingModel : public CollectiveModel {
 public:
  RingModel(Seconds latency, Bandwidth bus, double sm_share)
      : latency_(latency), bus_(bus), sm_share_(sm_share) {}
  CollectiveEstimate estimate(CollectiveKind kind, Bytes bytes, Dtype dtype,
                              const GroupShape& shape) const override;
  AchievableRates achievable() const override { return {}; }
  [[nodiscard]] RingModel without_latency() const { return RingModel({}, bus_, sm_share_); }

 private:
  Seconds latency_;
  Bandwidth bus_;
  double sm_share_;
};

// Fixed kernels only.
class FixedModel : public ComputeModel {
 public:
  KernelEstimate estimate(const Kernel& kernel) const override {
    return {kernel.duration, kernel.duration, kernel.duration, PredictionRange::measured};
  }
};

// Builds schedules line by line.
class Builder {
 public:
  explicit Builder(int world);
  StreamId stream(const std::string& name, bool compute);
  CommId communicator(const std::string& name, std::vector<Communicator::Axis> axes);
  void block(const std::string& name, std::int64_t repeat);
  OpId compute(const std::string& name, StreamId stream, Seconds time,
               std::vector<OpId> after = {});
  OpId collective(const std::string& name, StreamId stream, CommId communicator,
                  CollectiveKind kind, Bytes bytes, std::vector<OpId> after = {}, int root = 0);
  Schedule schedule;

 private:
  OpId add(Op op);
};

// A one-layer model on two GPUs (times by hand: pencil_test.cpp).
Schedule one_layer(bool gather_waits_for_update);

// The record of one instance; fails the test when there is none.
const OpRecord& record(const ReplayResult& result, const Schedule& schedule,
                       const std::string& name, int rank, int step = 0,
                       std::int64_t repetition = 0);

}  // namespace amsp::toy
