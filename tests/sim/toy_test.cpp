// SPDX-License-Identifier: Apache-2.0
#include "toy.hpp"

#include <catch2/catch.hpp>

namespace amsp::toy {

ClusterSpec cluster(int nodes, int gpus, int nics, double oversubscription) {
  ClusterSpec spec;
  spec.name = "toy";
  spec.nodes = nodes;
  spec.achievable = {1, 1};
  spec.node.gpus = gpus;
  spec.node.gpu.name = "toy";
  spec.node.gpu.memory = gibibytes(80);
  spec.node.intra.kind = IntraNodeKind::nvswitch;
  spec.node.intra.gpu_rate = gigabytes_per_second(100);
  spec.node.intra.latency = microseconds(1);
  spec.node.pcie_rate = gigabytes_per_second(50);
  for (int nic = 0; nic < nics; ++nic) {
    NicSpec one;
    one.name = "nic" + std::to_string(nic);
    one.rate = gigabytes_per_second(10);
    for (int slot = 0; slot < gpus; ++slot)
      if (slot * nics / gpus == nic) one.gpus.push_back(slot);
    spec.node.nics.push_back(one);
  }
  spec.fabric.kind = nodes > 1 ? FabricKind::leaf_spine : FabricKind::none;
  spec.fabric.nodes_per_leaf = 2;
  spec.fabric.spines = 2;
  spec.fabric.oversubscription = oversubscription;
  return spec;
}

Network network(const ClusterSpec& cluster) {
  return Network(cluster, {cluster.node.intra.gpu_rate,
                           cluster.node.nics.empty() ? Bandwidth{} : cluster.node.nics[0].rate});
}

CollectiveEstimate RingModel::estimate(CollectiveKind kind, Bytes bytes, Dtype,
                                       const GroupShape& shape) const {
  CollectiveEstimate estimate;
  estimate.algorithm = "ring";
  estimate.protocol = "Simple";
  if (shape.ranks < 2) return estimate;
  estimate.latency = latency_;
  estimate.fluid = bytes * bus_factor(kind, shape.ranks) / bus_;
  estimate.time = estimate.low = estimate.high = estimate.latency + estimate.fluid;
  estimate.range = PredictionRange::measured;
  estimate.sm_share = sm_share_;
  return estimate;
}

Builder::Builder(int world) {
  schedule.name = "toy";
  schedule.world = world;
}

StreamId Builder::stream(const std::string& name, bool compute) {
  schedule.streams.push_back({name, compute});
  return StreamId(schedule.streams.size() - 1);
}

CommId Builder::communicator(const std::string& name, std::vector<Communicator::Axis> axes) {
  schedule.communicators.push_back({name, std::move(axes), {}});
  return CommId(schedule.communicators.size() - 1);
}

void Builder::block(const std::string& name, std::int64_t repeat) {
  schedule.blocks.push_back({name, repeat, {}});
}

OpId Builder::add(Op op) {
  const OpId id(schedule.ops.size());
  schedule.ops.push_back(std::move(op));
  schedule.blocks.back().ops.push_back(id);
  return id;
}

OpId Builder::compute(const std::string& name, StreamId stream, Seconds time,
                      std::vector<OpId> after) {
  Op op;
  op.name = name;
  op.stream = stream;
  op.after = std::move(after);
  Kernel kernel;
  kernel.duration = time;
  op.kernels.push_back(kernel);
  return add(std::move(op));
}

OpId Builder::collective(const std::string& name, StreamId stream, CommId communicator,
                         CollectiveKind kind, Bytes bytes, std::vector<OpId> after, int root) {
  Op op;
  op.name = name;
  op.stream = stream;
  op.after = std::move(after);
  op.collective = CollectivePart{kind, communicator, bytes, Dtype::bf16, root};
  return add(std::move(op));
}

Schedule one_layer(bool gather_waits_for_update) {
  Builder build(2);
  const StreamId compute = build.stream("compute", true);
  const StreamId comm = build.stream("comm", false);
  const StreamId grads = build.stream("grads", false);
  const CommId weights = build.communicator("weights", {{2, true}});
  const CommId data = build.communicator("data", {{2, true}});
  build.block("step", 1);
  const Bytes size(100e6);
  const OpId gather = build.collective("gather", comm, weights, CollectiveKind::all_gather, size);
  const OpId forward = build.compute("forward", compute, milliseconds(2), {gather});
  const OpId scatter =
      build.collective("scatter", comm, weights, CollectiveKind::reduce_scatter, size, {forward});
  build.compute("backward", compute, milliseconds(4), {forward});
  const OpId reduce =
      build.collective("reduce", grads, data, CollectiveKind::all_reduce, size, {scatter});
  const OpId update = build.compute("update", compute, milliseconds(1), {reduce});
  if (gather_waits_for_update) build.schedule.ops[gather.position()].after.push_back(update);
  return build.schedule;
}

const OpRecord& record(const ReplayResult& result, const Schedule& schedule,
                       const std::string& name, int rank, int step, std::int64_t repetition) {
  const int representative = result
                                 .rank_classes[static_cast<std::size_t>(
                                     result.class_of_rank[static_cast<std::size_t>(rank)])]
                                 .representative.index;
  for (const OpRecord& one : result.records)
    if (schedule.op(one.op).name == name && one.rank.index == representative && one.step == step &&
        one.repetition == repetition)
      return one;
  FAIL("no record of " << name << " on rank " << rank);
  return result.records.front();
}

}  // namespace amsp::toy
