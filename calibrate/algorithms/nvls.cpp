// SPDX-License-Identifier: Apache-2.0
// NVLS: the NVSwitch adds and multicasts (NVLink SHARP), in one node. Every GPU sends its whole
// buffer up once and receives the result once; the switch moves (n+1)/n x bytes on a port, where a
// ring moves 2(n-1)/n x bytes.
#include <algorithm>

#include "calibrate/group_layout.hpp"
#include "calibrate/nccl_algorithm.hpp"

namespace amsp {
namespace {

class Nvls : public NcclAlgorithm {
 public:
  std::string_view name() const override { return "nvls"; }
  std::string_view description() const override {
    return "NVSwitch adds and multicasts, one node: all_reduce";
  }
  bool supports(CollectiveKind kind) const override { return kind == CollectiveKind::all_reduce; }

  NcclVersion since() const override { return {2, 17, 1}; }
  // NCCL takes NVLS from 3 GPUs on.
  Protocols offered(CollectiveKind kind, const GroupShape& shape,
                    const Hardware& hardware) const override {
    const bool able = supports(kind) && hardware.nvls && shape.nodes == 1;
    return {.simple = able && shape.ranks_per_node > 2};
  }
  // The switch adds and copies.
  WireBytes wire_bytes(CollectiveKind, Bytes bytes, const GroupShape& shape, int) const override {
    const double n = shape.ranks;
    return {bytes * ((n + 1) / n), Bytes(0)};
  }
  Streaming streaming() const override { return {.port = Parameter::rate_nvls}; }
  // Its row in NCCL's table has no base: the switch's own time.
  Seconds latency(const NcclCall&, Seconds, const PhysicsParameters& p) const override {
    return Seconds(p[Parameter::latency_nvls]);
  }
  int channels(const GroupShape&, const Hardware& hardware) const override {
    return nvls_channels(hardware.system.generation);
  }

  std::optional<Parameter> choice_factor(const GroupShape&) const override {
    return Parameter::choose_nvls;
  }
  TunerTime tuner_time(const NcclCall& call, const NcclGraph& graph,
                       const NcclSystem& system) const override {
    const NcclRate inside = nvls_inside(call.kind, call.shape, graph, system);
    const NcclRate across(graph.nvls_across.value() / 1e9);
    const double heads = std::max(2, graph.nvls_channels);
    return tuner_time_of(nvls_hop_inside, heads * std::min(inside, across) * call.shape.ranks /
                                              nccl_steps(call.kind, call.shape));
  }

 private:
  Bytes add_loads(const GroupCall& call, const GroupLayout&, const Network& network,
                  LoadSum& sum) const override {
    const auto& group = call.group;
    std::vector<LinkId> route;
    for (std::size_t i = 0; i < group.size(); ++i) {
      route.clear();
      network.route_inside(group[i], group[(i + 1) % group.size()], route);
      sum.add(route, 1.0);
    }
    const auto n = static_cast<double>(group.size());
    return call.bytes * ((n + 1) / n);
  }
};

}  // namespace

std::unique_ptr<CollectiveAlgorithm> algorithm_nvls() { return std::make_unique<Nvls>(); }

}  // namespace amsp
