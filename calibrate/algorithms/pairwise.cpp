// SPDX-License-Identifier: Apache-2.0
// Pairwise: NCCL's send/recv kernels. all_to_all sends bytes/n from every rank to every other (so a
// node of r ranks sends r (n-r)/n x bytes over its NICs); send_recv is the shift to the next rank;
// scatter and gather go between the root and every other rank. Each GPU uses its nearest NIC.
#include <algorithm>
#include <cmath>

#include "calibrate/group_layout.hpp"
#include "calibrate/nccl_algorithm.hpp"

namespace amsp {
namespace {

class Pairwise : public NcclAlgorithm {
 public:
  std::string_view name() const override { return "pairwise"; }
  std::string_view description() const override {
    return "direct sends between ranks: all_to_all, send_recv, scatter, gather";
  }
  bool supports(CollectiveKind kind) const override { return is_pairwise(kind); }

  std::vector<Message> messages(CollectiveKind kind, Bytes bytes, std::span<const GpuId> group,
                                int root, const Network& network) const override {
    std::vector<Message> all;
    const auto n = group.size();
    if (n < 2) return all;
    const bool shift = kind == CollectiveKind::send_recv;
    const Bytes part = shift ? bytes : bytes / static_cast<double>(n);
    // All sends are posted at once (one NCCL group call): each its own channel, so that none waits.
    int channel = 0;
    for_pairs(kind, n, root, [&](std::size_t from, std::size_t to) {
      Message message{0, channel++, group[from], group[to], part, {}};
      append(network, message.from, message.to, message.route);
      all.push_back(std::move(message));
    });
    return all;
  }

  // Sends and receives came with 2.7.3; what calls itself older and exchanged in pairs did it
  // alike.
  NcclVersion since() const override { return {1, 0, 0}; }
  std::string_view name_in_logs(std::string_view) const override { return {}; }  // has none
  Protocols offered(CollectiveKind kind, const GroupShape&, const Hardware&) const override {
    return {.ll = supports(kind), .simple = supports(kind)};
  }
  WireBytes wire_bytes(CollectiveKind kind, Bytes bytes, const GroupShape& shape,
                       int nics) const override {
    const double n = shape.ranks;
    const double r = shape.ranks_per_node;
    const double outside = shape.nodes > 1 ? (n - r) / n : 0;
    switch (kind) {
      case CollectiveKind::all_to_all:  // a rank has one NIC, even where there are more
        return {bytes * ((r - 1) / n), bytes * (outside * r / std::min<double>(nics, r))};
      case CollectiveKind::send_recv:  // one rank of each node sends to the next node
        return {r > 1 ? bytes : Bytes(0), shape.nodes > 1 ? bytes : Bytes(0)};
      default:  // scatter, gather: the root's port and the root's nearest NIC
        return {bytes * ((r - 1) / n), bytes * outside};
    }
  }
  Seconds protocol_limit(const NcclCall&, const PhysicsParameters&) const override {
    return Seconds(0);
  }
  // One round for every partner; a shift has one.
  Seconds latency(const NcclCall& call, Seconds, const PhysicsParameters& p) const override {
    const GroupShape& shape = call.shape;
    const bool shift = call.kind == CollectiveKind::send_recv;
    const int inside = shape.ranks_per_node - 1, across = shape.ranks - shape.ranks_per_node;
    const double hops_inside = shift ? std::min(inside, 1) : inside;
    const double hops_across = shift ? std::min(across, 1) : across;
    return of_protocol(p, Parameter::base_ll, call.protocol) +
           (hops_inside * of_protocol(p, Parameter::inside_ll, call.protocol) +
            hops_across * of_protocol(p, Parameter::across_ll, call.protocol));
  }
  // No table: LL up to 16 KiB for each channel and partner (src/enqueue.cc); continuous here.
  NcclView view(const NcclCall& call, const NcclGraph&, const NcclSystem&) const override {
    const bool shift = call.kind == CollectiveKind::send_recv;
    const double part = call.bytes.value() / (shift ? 1 : call.shape.ranks) / 16384.0;
    return {call.protocol == Protocol::ll ? 0.5 * std::log(part) : 0.0, 0.0};
  }

 private:
  Bytes add_loads(const GroupCall& call, const GroupLayout& layout, const Network& network,
                  LoadSum& sum) const override {
    if (call.kind == CollectiveKind::all_to_all) {
      all_to_all(layout, network, sum);
    } else {
      std::vector<LinkId> route;
      for_pairs(call.kind, call.group.size(), call.root, [&](std::size_t from, std::size_t to) {
        route.clear();
        append(network, call.group[from], call.group[to], route);
        sum.add(route, 1.0);
      });
    }
    const bool shift = call.kind == CollectiveKind::send_recv;
    return shift ? call.bytes : call.bytes / static_cast<double>(call.group.size());
  }

  template <class Visit>
  static void for_pairs(CollectiveKind kind, std::size_t n, int root, const Visit& visit) {
    const auto at_root = static_cast<std::size_t>(root);
    for (std::size_t i = 0; i < n; ++i) {
      if (kind == CollectiveKind::send_recv) {
        visit(i, (i + 1) % n);
      } else if (kind == CollectiveKind::scatter) {
        if (i != at_root) visit(at_root, i);
      } else if (kind == CollectiveKind::gather) {
        if (i != at_root) visit(i, at_root);
      } else {
        for (std::size_t shift = 1; shift < n; ++shift) visit(i, (i + shift) % n);
      }
    }
  }

  // GPUs with the same NICs nearest (behind one PCIe switch) take them in turn.
  static NicId nearest(const Network& network, GpuId gpu) {
    const int slot = network.cluster().slot_of(gpu);
    const auto nics = network.nics_of({&slot, 1});
    std::size_t before = 0;
    for (int other = 0; nics.size() > 1 && other < slot; ++other) {
      if (network.nics_of({&other, 1}) == nics) ++before;
    }
    return nics[before % nics.size()];
  }

  static void append(const Network& network, GpuId from, GpuId to, std::vector<LinkId>& route) {
    const ClusterSpec& cluster = network.cluster();
    if (cluster.node_of(from) == cluster.node_of(to)) {
      network.route_inside(from, to, route);
    } else {
      network.route_across(from, nearest(network, from), to, nearest(network, to),
                           from.index * 31 + to.index, route);
    }
  }

  // Inside nodes every pair is routed. Across nodes a rank's n - r sends have the same first and
  // last links (GPU to NIC, NIC to GPU); routing to its same-position partners of every other
  // node, with weight r, loads each of these links exactly and the fabric by its mean, and keeps
  // the cost at nodes x ranks. Beyond `exact_nodes` nodes a rank is routed to that many partners,
  // evenly spread, each standing for an equal share: linear in the size of the group.
  static void all_to_all(const GroupLayout& layout, const Network& network, LoadSum& sum) {
    const auto nodes = layout.nodes.size();
    std::vector<LinkId> route;
    for (std::size_t node = 0; node < nodes; ++node) {
      const auto& members = layout.nodes[node].gpus;
      for (std::size_t i = 0; i < members.size(); ++i) {
        for (std::size_t j = 0; j < members.size(); ++j) {
          if (i == j) continue;
          route.clear();
          network.route_inside(members[i], members[j], route);
          sum.add(route, 1.0);
        }
        across(layout, node, i, network, route, sum);
      }
    }
  }

  static void across(const GroupLayout& layout, std::size_t node, std::size_t i,
                     const Network& network, std::vector<LinkId>& route, LoadSum& sum) {
    const auto nodes = layout.nodes.size();
    if (nodes < 2) return;
    constexpr std::size_t exact_nodes = 64;  // above: 64 spread partners stand for all
    const std::size_t partners = std::min(nodes - 1, exact_nodes);
    const double scale = static_cast<double>(nodes - 1) / static_cast<double>(partners);
    for (std::size_t p = 0; p < partners; ++p) {
      const std::size_t distance = 1 + p * (nodes - 1) / partners;
      const auto& there = layout.nodes[(node + distance) % nodes].gpus;
      const GpuId from = layout.nodes[node].gpus[i];
      route.clear();
      append(network, from, there[i % there.size()], route);
      sum.add(route, scale * static_cast<double>(there.size()));
    }
  }
};

}  // namespace

std::unique_ptr<CollectiveAlgorithm> algorithm_pairwise() { return std::make_unique<Pairwise>(); }

}  // namespace amsp
