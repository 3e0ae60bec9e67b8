// SPDX-License-Identifier: Apache-2.0
#include "neutral_schedules.hpp"

#include <string>

namespace amsp::neutral {
namespace {

constexpr Bandwidth inside = Bandwidth(400 * 1073741824.0);
constexpr Bandwidth across = Bandwidth(50 * 1073741824.0);
constexpr int layers = 32;
constexpr Bytes layer_bytes = Bytes(404766720);

Op compute(const std::string& name, Seconds time, std::vector<OpId> after) {
  Op op;
  op.name = name;
  op.stream = StreamId(0);
  op.after = std::move(after);
  Kernel kernel;
  kernel.duration = time;
  op.kernels.push_back(kernel);
  return op;
}

Op collective(const std::string& name, StreamId stream, CollectiveKind kind, Bytes bytes,
              std::vector<OpId> after) {
  Op op;
  op.name = name;
  op.stream = stream;
  op.after = std::move(after);
  op.collective = CollectivePart{kind, CommId(stream.index > 1 ? 1 : 0), bytes, Dtype::bf16, 0};
  return op;
}

Schedule empty(int ranks) {
  Schedule schedule;
  schedule.world = ranks;
  schedule.streams = {{"compute", true}, {"gather", false}, {"scatter", false}};
  for (const char* name : {"gather", "scatter"})
    schedule.communicators.push_back({name, {{ranks, true}}, {}});
  schedule.blocks.push_back({"step", 1, {}});
  return schedule;
}

OpId add(Schedule& schedule, Op op) {
  const OpId id(schedule.ops.size());
  schedule.ops.push_back(std::move(op));
  schedule.blocks.front().ops.push_back(id);
  return id;
}

// Gathers run ahead of the computation by two layers.
void pass(Schedule& schedule, const std::string& name, Seconds time, bool scatter) {
  std::vector<OpId> computed;
  for (int i = 0; i < layers; ++i) {
    const std::string layer = name + std::to_string(scatter ? layers - 1 - i : i);
    std::vector<OpId> after;
    if (i >= 2) after.push_back(computed[static_cast<std::size_t>(i) - 2]);
    const OpId gather = add(schedule, collective(layer + ".gather", StreamId(1),
                                                 CollectiveKind::all_gather, layer_bytes, after));
    computed.push_back(add(schedule, compute(layer, time, {gather})));
    if (scatter)
      add(schedule, collective(layer + ".scatter", StreamId(2), CollectiveKind::reduce_scatter,
                               layer_bytes, {computed.back()}));
  }
}

}  // namespace

ClusterSpec cluster(int ranks) {
  ClusterSpec spec;
  spec.name = "neutral";
  spec.nodes = ranks / 8;
  spec.node.gpus = 8;
  spec.node.gpu.name = "any";
  spec.node.intra.kind = IntraNodeKind::nvswitch;
  spec.node.intra.gpu_rate = inside;
  spec.node.pcie_rate = inside;
  for (int i = 0; i < 8; ++i) {
    NicSpec nic;
    nic.name = "nic" + std::to_string(i);
    nic.rate = across;
    nic.gpus = {i};
    spec.node.nics.push_back(nic);
  }
  spec.fabric.kind = spec.nodes > 1 ? FabricKind::single_switch : FabricKind::none;
  spec.achievable = {1, 1};
  return spec;
}

Network network(const ClusterSpec& cluster) { return Network(cluster, {inside, across}); }

CollectiveEstimate RingBandwidth::estimate(CollectiveKind kind, Bytes bytes, Dtype,
                                           const GroupShape& shape) const {
  CollectiveEstimate estimate;
  estimate.algorithm = "ring";
  estimate.protocol = "Simple";
  if (shape.ranks < 2) return estimate;
  // One ring per NIC of a node; inside a node one ring over its links.
  const Bandwidth rate =
      shape.nodes > 1 ? across * static_cast<double>(cluster_.node.nics.size()) : inside;
  estimate.fluid = bytes * bus_factor(kind, shape.ranks) / rate;
  estimate.time = estimate.low = estimate.high = estimate.fluid;
  estimate.range = PredictionRange::measured;
  return estimate;
}

KernelEstimate FixedKernels::estimate(const Kernel& kernel) const {
  return {kernel.duration, kernel.duration, kernel.duration, PredictionRange::measured};
}

Schedule allreduce(int ranks) {
  Schedule schedule = empty(ranks);
  schedule.name = "neutral_allreduce";
  add(schedule,
      collective("all_reduce", StreamId(1), CollectiveKind::all_reduce, gibibytes(1), {}));
  return schedule;
}

Schedule zero3(int ranks) {
  Schedule schedule = empty(ranks);
  schedule.name = "neutral_zero3";
  pass(schedule, "forward", milliseconds(4), false);
  pass(schedule, "backward", milliseconds(8), true);
  return schedule;
}

}  // namespace amsp::neutral
