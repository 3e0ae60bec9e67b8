// SPDX-License-Identifier: Apache-2.0
#include "calibrate/nccl_tuner.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace amsp {
namespace {

using nccl_table::at;
using nccl_table::ByGeneration;
using nccl_table::column;

constexpr ByGeneration ceiling_ll{{{39, 39, 20.4}, {87.7, 22.5, 19}, {141, 45, 35}, {282, 90, 70}}};
constexpr double nvls_efficiency[4] = {0, 0, 0.85, 0.74};

// One channel per NIC, or per 20 to 45 GB/s of NVLink: the speeds that the search tries first.
double channel_speed(GpuGeneration generation) {
  if (generation == GpuGeneration::blackwell) return 45e9;
  return generation == GpuGeneration::hopper ? 30e9 : 20e9;
}

}  // namespace

TunerTime tuner_time_of(NcclTime latency, NcclRate algbw) {
  return {microseconds(latency.value()), gigabytes_per_second(algbw.value())};
}

int floor_log2(int n) { return static_cast<int>(std::bit_width(static_cast<unsigned>(n))) - 1; }

double nccl_steps(CollectiveKind kind, const GroupShape& shape) {
  if (kind == CollectiveKind::all_reduce) return 2.0 * (shape.ranks - 1);
  if (kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce) return shape.ranks;
  return shape.ranks - 1.0;
}

NcclRate bus_of(const NcclGraph& graph, Bandwidth inside, const GroupShape& shape) {
  const Bandwidth channel = shape.nodes <= 2 ? inside : graph.across;
  return NcclRate(graph.channels * channel.value() / 1e9);
}

// Between nodes the host decides the row: Volta's. (NCCL takes Ampere's for AMD hosts, and 2 us of
// overhead in place of 1. With them the A800's rings and trees, on EPYC, are predicted worse: at
// twice to four times the measured scale the 95th percentile errs by 54 % instead of 31 %.)
NcclRate most_of_ll(const GroupShape& shape, const NcclSystem& system) {
  const GpuGeneration row = shape.nodes == 1 ? system.generation : GpuGeneration::volta;
  return NcclRate(ceiling_ll[at(row)][column(shape.nodes)]);
}

int nvls_channels(GpuGeneration generation) {
  return generation == GpuGeneration::blackwell ? 24 : 16;
}

NcclRate nvls_inside(CollectiveKind kind, const GroupShape& shape, const NcclGraph& graph,
                     const NcclSystem& system) {
  const double heads = std::max(2, graph.nvls_channels);
  const double r = shape.ranks_per_node;
  return NcclRate(graph.nvls_inside.value() / 1e9 * nvls_efficiency[at(system.generation)] *
                  (heads - 1) / heads * (kind == CollectiveKind::all_reduce ? 2.0 : (r - 1) / r));
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
  } else {                             // 12 GB/s per 100 Gb/s of NIC (topo.h)
    constexpr int most_channels = 32;  // of the search (src/graph/search.cc)
    graph.channels = std::clamp(nics, 2, most_channels);
    // Each ring passes through every GPU of the node, hence over its port.
    double total = nics * nic_rate.value() * 0.96;
    if (shape.ranks_per_node > 1) total = std::min(total, 0.8 * gpu_rate.value());
    const double rate = total / graph.channels;
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
