// SPDX-License-Identifier: Apache-2.0
// NVLSTree: NVLink SHARP inside each node ((r+1)/r x bytes on a port), NCCL's double binary tree
// across nodes, one head GPU per channel.
#include <algorithm>

#include "calibrate/group_layout.hpp"
#include "calibrate/nccl_algorithm.hpp"
#include "calibrate/tree_shape.hpp"
#include "calibrate/tree_time.hpp"

namespace amsp {
namespace {

// src/graph/tuning.cc: microseconds of a hop across, and the most GB/s of a channel (0: no limit).
constexpr double hop_across_us = 20.9;
constexpr nccl_table::ByGeneration channel_limit{
    {{26.5, 18.5, 10}, {24, 23.6, 17.8}, {0, 57.7, 45.5}, {0, 96, 80}}};

class NvlsTree : public NcclAlgorithm {
 public:
  std::string_view name() const override { return "nvls_tree"; }
  std::string_view description() const override {
    return "NVSwitch adds inside nodes, double binary tree across: all_reduce";
  }
  bool supports(CollectiveKind kind) const override { return kind == CollectiveKind::all_reduce; }

  NcclVersion since() const override { return {2, 18, 1}; }
  Protocols offered(CollectiveKind kind, const GroupShape& shape,
                    const Hardware& hardware) const override {
    const bool able = supports(kind) && hardware.nvls && shape.nodes > 1;
    return {.simple = able && shape.ranks_per_node > 2};  // as NVLS
  }
  WireBytes wire_bytes(CollectiveKind, Bytes bytes, const GroupShape& shape,
                       int nics) const override {
    const double r = shape.ranks_per_node;
    return {bytes * (r > 1 ? (r + 1) / r : 0), tree_nic_bytes(bytes, shape, nics)};
  }
  Streaming streaming() const override { return {.port = Parameter::rate_nvls}; }
  Seconds stretched(Seconds transfer, const GroupShape& shape,
                    const PhysicsParameters& p) const override {
    return transfer * tree_loss(shape, p);
  }
  Seconds latency(const NcclCall& call, Seconds, const PhysicsParameters& p) const override {
    return Seconds(p[Parameter::latency_nvls]) + tree_path_across(call, p);
  }
  int channels(const GroupShape&, const Hardware& hardware) const override {
    return nvls_channels(hardware.system.generation);
  }

  std::optional<Parameter> choice_factor(const GroupShape&) const override {
    return Parameter::choose_nvls;
  }
  TunerTime tuner_time(const NcclCall& call, const NcclGraph& graph,
                       const NcclSystem& system) const override {
    double across = graph.nvls_across.value() / 1e9;
    if (call.shape.nodes <= 2) across *= 2;
    NcclRate rate = std::min(nvls_inside(call.kind, call.shape, graph, system), NcclRate(across));
    const auto row = nccl_table::at(system.generation);
    const NcclRate limit(channel_limit[row][nccl_table::column(call.shape.nodes)]);
    if (limit > NcclRate(0)) rate = std::min(rate, limit);
    const double heads = std::max(2, graph.nvls_channels);
    const double levels = floor_log2(call.shape.nodes);
    return tuner_time_of(nvls_hop_inside + NcclTime(2 * levels * hop_across_us),
                         heads * rate * call.shape.ranks / nccl_steps(call.kind, call.shape));
  }

 private:
  Bytes add_loads(const GroupCall& call, const GroupLayout& layout, const Network& network,
                  LoadSum& sum) const override {
    inside(layout, network, sum);
    std::vector<LinkId> route;
    for (int tree = 0; tree < 2; ++tree) {
      const TreeShape shape = tree_shape(tree, static_cast<int>(layout.nodes.size()));
      for (std::size_t node = 0; node < layout.nodes.size(); ++node) {
        if (shape.parent[node] < 0) continue;
        const auto above = static_cast<std::size_t>(shape.parent[node]);
        for (int channel = 0; channel < layout.channels; ++channel) {
          const GpuId child = layout.chain(node, channel, network).front();
          const GpuId parent = layout.chain(above, channel, network).front();
          const NicId child_nic = layout.nic(node, channel);
          const NicId parent_nic = layout.nic(above, channel);
          route.clear();
          append_hop(network, child, child, child_nic, parent, parent_nic, channel, route);
          append_hop(network, parent, parent, parent_nic, child, child_nic, channel, route);
          sum.add(route, 1.0);
        }
      }
    }
    return call.bytes / (2.0 * layout.channels);
  }

  static void inside(const GroupLayout& layout, const Network& network, LoadSum& sum) {
    std::vector<LinkId> route;
    for (const NodeMembers& members : layout.nodes) {
      const auto r = members.gpus.size();
      if (r < 2) continue;
      const double share = static_cast<double>(r + 1) / static_cast<double>(r);
      for (std::size_t i = 0; i < r; ++i) {
        route.clear();
        network.route_inside(members.gpus[i], members.gpus[(i + 1) % r], route);
        sum.add(route, 2.0 * layout.channels * share);
      }
    }
  }
};

}  // namespace

std::unique_ptr<CollectiveAlgorithm> algorithm_nvls_tree() { return std::make_unique<NvlsTree>(); }

}  // namespace amsp
