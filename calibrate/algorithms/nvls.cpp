// SPDX-License-Identifier: Apache-2.0
// NVLS: the NVSwitch adds and multicasts (NVLink SHARP), in one node. Every GPU sends its whole
// buffer up once and receives the result once; the switch moves (n+1)/n x bytes on a port, where a
// ring moves 2(n-1)/n x bytes.
#include "calibrate/group_layout.hpp"

namespace amsp {
namespace {

class Nvls : public CollectiveAlgorithm {
 public:
  std::string_view name() const override { return "nvls"; }
  std::string_view description() const override {
    return "NVSwitch adds and multicasts, one node: all_reduce";
  }
  bool supports(CollectiveKind kind) const override { return kind == CollectiveKind::all_reduce; }

  Traffic traffic(CollectiveKind, Bytes bytes, std::span<const GpuId> group, int,
                  const Network& network) const override {
    if (group.size() < 2) return {};
    LoadSum sum(network);
    std::vector<LinkId> route;
    for (std::size_t i = 0; i < group.size(); ++i) {
      route.clear();
      network.route_inside(group[i], group[(i + 1) % group.size()], route);
      sum.add(route, 1.0);
    }
    const auto n = static_cast<double>(group.size());
    return {bytes * ((n + 1) / n), sum.take()};
  }

  std::vector<Message> messages(CollectiveKind, Bytes, std::span<const GpuId>, int,
                                const Network&) const override {
    return {};
  }
};

}  // namespace

std::unique_ptr<CollectiveAlgorithm> algorithm_nvls() { return std::make_unique<Nvls>(); }

}  // namespace amsp
