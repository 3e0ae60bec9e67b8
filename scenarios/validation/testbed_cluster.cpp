// SPDX-License-Identifier: Apache-2.0
#include "scenarios/validation/testbed_cluster.hpp"

#include <fmt/format.h>

namespace amsp {

ClusterSpec testbed_cluster(const TestbedShape& shape) {
  ClusterSpec cluster;
  cluster.name = fmt::format("testbed-{}x{}", shape.nodes, shape.ranks_per_node);
  cluster.description = "network namespaces with shaped links (exec/testbed)";
  cluster.sources = {"exec/testbed"};
  NodeSpec& node = cluster.node;
  node.gpus = shape.ranks_per_node;
  // An emulated device. Its rates only set the proportion of kernels: the validation scales their
  // durations to the network (1 TFLOP/s and 100 GB/s: 10 FLOP per byte).
  node.gpu.name = "emulated device";
  node.gpu.memory = gibibytes(16);
  for (Dtype dtype : {Dtype::bf16, Dtype::fp16, Dtype::fp32}) node.gpu.peak[dtype] = teraflops(1);
  node.gpu.hbm = gigabytes_per_second(100);
  node.gpu.multiprocessors = 1;
  // A rank's one link to the bridge carries all its traffic, also what goes on to the uplink.
  node.intra.kind = IntraNodeKind::pcie;
  node.intra.gpu_rate = shape.intra;
  node.pcie_rate = shape.intra;
  NicSpec nic;
  nic.name = "uplink";
  nic.rate = shape.inter;
  for (int slot = 0; slot < shape.ranks_per_node; ++slot) nic.gpus.push_back(slot);
  node.nics.push_back(nic);
  cluster.nodes = shape.nodes;
  cluster.fabric.kind = shape.nodes > 1 ? FabricKind::single_switch : FabricKind::none;
  cluster.achievable = {testbed_payload_share, testbed_payload_share};
  return cluster;
}

Perturbations uplink_perturbations(const TestbedShape& shape, const Network& network) {
  Perturbations result;
  for (const auto& [node, rate] : shape.uplinks)
    for (LinkId link : network.nic_links(NodeId(node), NicId(0))) {
      const Link& healthy = network.links()[link.position()];
      if (healthy.kind == LinkKind::nic) result.links.push_back({link, rate / shape.inter});
    }
  return result;
}

}  // namespace amsp
