// SPDX-License-Identifier: Apache-2.0
#include "calibrate/nccl_tuner.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace amsp {
namespace {

// All tables in NCCL's microseconds and GB/s; order LL, LL128, Simple.
using Row = std::array<double, 3>;
constexpr Row base_tree{6.8, 14, 8.4}, base_ring{6.6, 14, 8.4};
constexpr Row nvlink_tree{0.6, 1.25, 4.0}, nvlink_ring{0.6, 1.9, 3.4};
constexpr Row pcie_tree{1.0, 1.9, 4.0}, pcie_ring{1.0, 2.5, 5.7};
constexpr Row net_tree{5.0, 8.5, 14}, net_ring{2.7, 4.0, 14};
constexpr double nvls_inside_us = 25, nvls_tree_across_us = 20.9;
// CollNetDirect, Simple: a hop inside, one more peer, and through the network.
constexpr double collnet_inside_us = 3.7, collnet_peer_us = 0.4, collnet_across_us = 31;

// Rows Volta, Ampere, Hopper, Blackwell; columns 1, 2, 3 and more nodes.
constexpr double ceiling_ll[4][3] = {
    {39, 39, 20.4}, {87.7, 22.5, 19}, {141, 45, 35}, {282, 90, 70}};
constexpr double ring_ll128[4] = {20, 20, 36.7, 40};
constexpr double tree_ll128[4][3] = {
    {20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}, {55.6, 31.67, 20}};
constexpr double tree_channel[4][3] = {
    {26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}, {70, 42.8, 24}};
constexpr double nvls_tree_channel[4][3] = {
    {26.5, 18.5, 10}, {24, 23.6, 17.8}, {0, 57.7, 45.5}, {0, 96, 80}};
constexpr double nvls_efficiency[4] = {0, 0, 0.85, 0.74};

// Tree all_reduce: factor by floor(log2(bytes / 64)), up to 256 MiB.
constexpr double tree_correction[3][23] = {
    {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9}};

std::size_t at(Protocol protocol) { return static_cast<std::size_t>(protocol); }
std::size_t at(GpuGeneration generation) { return static_cast<std::size_t>(generation); }
std::size_t column(int nodes) { return static_cast<std::size_t>(std::min(nodes, 3) - 1); }
// Between nodes the host decides the row: Ampere's for AMD hosts, else Volta's.
double most_of_ll(const GroupShape& shape, const NcclSystem& system) {
  const GpuGeneration host = system.amd_cpu ? GpuGeneration::ampere : GpuGeneration::volta;
  return ceiling_ll[at(shape.nodes == 1 ? system.generation : host)][column(shape.nodes)];
}
int floor_log2(int n) { return static_cast<int>(std::bit_width(static_cast<unsigned>(n))) - 1; }

double steps_of(CollectiveKind kind, const GroupShape& shape) {
  if (kind == CollectiveKind::all_reduce) return 2.0 * (shape.ranks - 1);
  if (kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce) return shape.ranks;
  return shape.ranks - 1.0;
}

double ring_latency(Protocol protocol, CollectiveKind kind, const GroupShape& shape,
                    const NcclGraph& graph, const NcclSystem& system) {
  const Row& inside = system.pcie ? pcie_ring : nvlink_ring;
  const Row& across = shape.ranks_per_node == 1 ? net_tree : net_ring;
  const double steps = steps_of(kind, shape);
  const std::size_t p = at(protocol);
  if (kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce) {
    const Row& tree = system.pcie ? pcie_tree : nvlink_tree;
    const double hop = protocol == Protocol::simple && !graph.same_channels ? tree[p] : inside[p];
    return base_ring[p] + (graph.same_channels ? 1.0 : steps) * hop;
  }
  const double turns = kind == CollectiveKind::all_reduce ? 2 : 1;
  const double between = shape.nodes > 1 ? turns * (shape.nodes - 1) : 0;
  double overhead = shape.nodes > 1 ? (system.amd_cpu ? 2.0 : 1.0) : 0.0;
  if (protocol == Protocol::simple) overhead *= 3;
  return base_ring[p] + (steps - between) * std::max(inside[p], overhead) + between * across[p];
}

double latency_us(const Candidate& c, CollectiveKind kind, const GroupShape& shape,
                  const NcclGraph& graph, const NcclSystem& system) {
  const Row& inside = system.pcie ? pcie_tree : nvlink_tree;
  const std::size_t p = at(c.protocol);
  const double levels = floor_log2(shape.nodes);
  switch (c.algorithm) {
    case Algorithm::tree:
      return base_tree[p] + 2 * ((shape.ranks_per_node - 1) * inside[p] + levels * net_tree[p]);
    case Algorithm::nvls:
      return nvls_inside_us;
    case Algorithm::nvls_tree:
      return nvls_inside_us + 2 * levels * nvls_tree_across_us;
    case Algorithm::collnet: {
      const double peers = shape.ranks_per_node - 1;
      return 2 * (std::min(1.0, peers) * collnet_inside_us + collnet_peer_us * peers) +
             collnet_across_us;
    }
    default:
      return ring_latency(c.protocol, kind, shape, graph, system);
  }
}

double ring_bus(Protocol protocol, double bus, const GroupShape& shape, const NcclGraph& graph,
                const NcclSystem& system) {
  const std::size_t g = at(system.generation);
  if (protocol == Protocol::simple) return bus;
  if (protocol == Protocol::ll128) return std::min(0.92 * bus, graph.channels * ring_ll128[g]);
  return std::min(most_of_ll(shape, system), 0.5 * bus);
}

double tree_bus(Protocol protocol, double bus, const GroupShape& shape, const NcclGraph& graph,
                const NcclSystem& system) {
  const std::size_t g = at(system.generation);
  const std::size_t n = column(shape.nodes);
  double rate = std::min(0.92 * bus, graph.channels * tree_channel[g][n]);
  if (protocol == Protocol::ll) rate = std::min(rate / 3.8, most_of_ll(shape, system));
  if (protocol == Protocol::ll128) {
    const double share = shape.nodes == 1 ? 7.0 / 9 : 120.0 / 128;
    rate = std::min(rate * share, graph.channels * tree_ll128[g][n]);
  }
  return graph.plain_tree ? 0.85 * rate : rate;
}

double nvls_bus(const Candidate& c, CollectiveKind kind, const GroupShape& shape,
                const NcclGraph& graph, const NcclSystem& system) {
  const std::size_t g = at(system.generation);
  const double heads = std::max(2, graph.nvls_channels);
  const bool all_reduce = kind == CollectiveKind::all_reduce;
  const double r = shape.ranks_per_node;
  const double inside = graph.nvls_inside.value() / 1e9 * nvls_efficiency[g] * (heads - 1) / heads *
                        (all_reduce ? 2.0 : (r - 1) / r);
  double across = graph.nvls_across.value() / 1e9;
  if (c.algorithm == Algorithm::nvls_tree && shape.nodes <= 2) across *= 2;
  double rate = std::min(inside, across);
  const double cap = nvls_tree_channel[g][column(shape.nodes)];
  if (c.algorithm == Algorithm::nvls_tree && cap > 0) rate = std::min(rate, cap);
  return heads * rate;
}

// Of the rate that the search finds inside the node, which it raises up to twice that of the
// network: heads with several GPUs each take longer for theirs.
double collnet_bus(const GroupShape& shape, const NcclGraph& graph, const NcclSystem& system) {
  const double bus = graph.channels * graph.tree_inside.value() / 1e9;
  const double peers = static_cast<double>(shape.ranks_per_node) / graph.channels;
  const bool modern =
      system.generation == GpuGeneration::hopper || system.generation == GpuGeneration::blackwell;
  return bus / (peers - (peers - 1) / 2) * (modern ? 0.85 : 1.0);
}

// One channel per NIC, or per 20 to 45 GB/s of NVLink: the speeds that the search tries first.
double channel_speed(GpuGeneration generation) {
  if (generation == GpuGeneration::blackwell) return 45e9;
  return generation == GpuGeneration::hopper ? 30e9 : 20e9;
}

}  // namespace

TunerTime tuner_time(const Candidate& c, CollectiveKind kind, Bytes bytes, const GroupShape& shape,
                     const NcclGraph& graph, const NcclSystem& system) {
  const bool tree = c.algorithm == Algorithm::tree;
  const Bandwidth inside = tree ? graph.tree_inside : graph.inside;
  const Bandwidth channel = shape.nodes <= 2 ? inside : graph.across;
  const double bus = graph.channels * channel.value() / 1e9;
  double latency = latency_us(c, kind, shape, graph, system);
  double algbw = 0;
  switch (c.algorithm) {
    case Algorithm::ring:
    case Algorithm::pairwise:
      algbw = ring_bus(c.protocol, bus, shape, graph, system) * shape.ranks / steps_of(kind, shape);
      break;
    case Algorithm::tree:
      algbw = tree_bus(c.protocol, bus, shape, graph, system) * 0.5;
      break;
    case Algorithm::collnet:
      algbw = collnet_bus(shape, graph, system) * 0.5;
      break;
    default:
      algbw = nvls_bus(c, kind, shape, graph, system) * shape.ranks / steps_of(kind, shape);
  }
  const double units = std::max(1.0, bytes.value() / 64);
  const auto index = static_cast<std::size_t>(std::log2(units));
  if (tree && kind == CollectiveKind::all_reduce && index < 23) {
    algbw *= tree_correction[at(c.protocol)][index];
  }
  if (c.algorithm == Algorithm::ring && c.protocol == Protocol::simple && shape.nodes > 1 &&
      kind == CollectiveKind::all_reduce &&
      units >= static_cast<double>(graph.channels) * shape.ranks) {
    latency *= system.generation == GpuGeneration::volta ? 1.9 : 1.4;
  }
  return {microseconds(latency), gigabytes_per_second(algbw)};
}

NcclGraph expected_graph(const GroupShape& shape, Bandwidth gpu_rate, Bandwidth nic_rate, int nics,
                         GpuGeneration generation) {
  NcclGraph graph;
  const double speed = channel_speed(generation);
  const double inside_channels = std::round(0.8 * gpu_rate.value() / speed);
  if (shape.nodes == 1) {
    graph.channels = std::max(1, static_cast<int>(inside_channels));
    graph.inside = graph.across = Bandwidth(std::min(speed, 0.8 * gpu_rate.value()));
    graph.tree_inside = graph.inside;
  } else {  // 12 GB/s per 100 Gb/s of NIC (topo.h)
    graph.channels = std::max(2, nics);
    const double rate = nics * nic_rate.value() * 0.96 / graph.channels;
    graph.inside = graph.across = Bandwidth(rate);
    const double ports = shape.ranks_per_node > 1 ? 0.8 * gpu_rate.value() / graph.channels : rate;
    graph.tree_inside = Bandwidth(std::clamp(ports, rate, 2 * rate));
    graph.same_channels = nics < 2;
  }
  graph.nvls_channels = std::max(shape.ranks_per_node, 2);
  const double heads = graph.nvls_channels;
  graph.nvls_inside = Bandwidth(0.8 * gpu_rate.value() * 8 / 9 / heads);  // 8 x 40 on H100
  graph.nvls_across = shape.nodes == 1 ? graph.nvls_inside * 1.5
                                       : Bandwidth(nics * nic_rate.value() * 0.96 / heads);
  return graph;
}

}  // namespace amsp
