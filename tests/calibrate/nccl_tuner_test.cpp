// SPDX-License-Identifier: Apache-2.0
// The port of NCCL's tuning model against reference values computed by hand from its published
// tables (all_reduce; Intel hosts; graph inputs as given).
#include <catch2/catch.hpp>

#include "calibrate/nccl_algorithm.hpp"

using namespace amsp;

namespace {

NcclGraph graph_of(int channels, double rate) {
  NcclGraph graph;
  graph.channels = channels;
  graph.inside = graph.across = graph.tree_inside = gigabytes_per_second(rate);
  return graph;
}

struct Reference {
  const char* system;
  GpuGeneration generation;
  GroupShape shape;
  int channels;
  double rate;
  const char* algorithm;
  double latency[3];  // us; LL, LL128, Simple
  double algbw[3];    // GB/s
};

}  // namespace

TEST_CASE("NCCL's modelled latency and bandwidth") {
  const Reference references[] = {
      {"A100 1x8",
       GpuGeneration::ampere,
       {8, 8, 1, 0},
       12,
       20,
       "ring",
       {15.0, 40.6, 56.0},
       {50.1, 126.2, 137.1}},
      {"A100 1x8",
       GpuGeneration::ampere,
       {8, 8, 1, 0},
       12,
       20,
       "tree",
       {15.2, 31.5, 64.4},
       {29.1, 85.9, 110.4}},
      {"A100 2x8",
       GpuGeneration::ampere,
       {16, 8, 2, 0},
       8,
       24,
       "ring",
       {40.0, 75.2, 131.6},
       {20.8, 85.3, 102.4}},
      {"A100 2x8",
       GpuGeneration::ampere,
       {16, 8, 2, 0},
       8,
       24,
       "tree",
       {25.2, 48.5, 92.4},
       {19.5, 80.0, 88.3}},
      {"A100 16x8",
       GpuGeneration::ampere,
       {128, 8, 16, 0},
       8,
       24,
       "ring",
       {311.6, 559.6, 1190},
       {10.3, 80.6, 96.8}},
      {"A100 16x8",
       GpuGeneration::ampere,
       {128, 8, 16, 0},
       8,
       24,
       "tree",
       {55.2, 99.5, 176.4},
       {10.2, 66.8, 71.2}},
      {"H100 1x8",
       GpuGeneration::hopper,
       {8, 8, 1, 0},
       12,
       30,
       "ring",
       {15.0, 40.6, 56.0},
       {80.6, 189.3, 205.7}},
      {"H100 128x8",
       GpuGeneration::hopper,
       {1024, 8, 128, 0},
       8,
       48,
       "tree",
       {85.2, 150.5, 260.4},
       {10.2, 116.0, 144.0}},
  };
  for (const Reference& r : references) {
    for (const Protocol protocol : {Protocol::ll, Protocol::ll128, Protocol::simple}) {
      CAPTURE(r.system, r.algorithm, name_of(protocol));
      NcclSystem system;
      system.generation = r.generation;
      // A size at which neither the plateau nor the tree's correction applies.
      const Bytes bytes = r.algorithm == std::string("tree") ? Bytes(1e12) : Bytes(64);
      const TunerTime time =
          find_nccl_algorithm(r.algorithm)
              ->tuner_time({protocol, CollectiveKind::all_reduce, bytes, r.shape},
                           graph_of(r.channels, r.rate), system);
      const auto p = static_cast<std::size_t>(protocol);
      CHECK(time.latency.value() * 1e6 == Approx(r.latency[p]).epsilon(0.005));
      CHECK(time.algbw.value() / 1e9 == Approx(r.algbw[p]).epsilon(0.01));
    }
  }
}

TEST_CASE("NVLS and NVLSTree as NCCL models them on H100") {
  NcclGraph graph = graph_of(8, 48);
  graph.nvls_channels = 8;
  graph.nvls_inside = gigabytes_per_second(40);
  graph.nvls_across = gigabytes_per_second(60);
  NcclSystem system;
  system.generation = GpuGeneration::hopper;
  const auto time_of = [&](const char* algorithm, const GroupShape& shape) {
    return find_nccl_algorithm(algorithm)->tuner_time(
        {Protocol::simple, CollectiveKind::all_reduce, Bytes(1e9), shape}, graph, system);
  };
  const TunerTime one = time_of("nvls", {8, 8, 1, 0});
  CHECK(one.latency.value() * 1e6 == Approx(25));
  CHECK(one.algbw.value() / 1e9 == Approx(272).epsilon(0.01));
  graph.nvls_inside = graph.nvls_across = gigabytes_per_second(48);
  const TunerTime four = time_of("nvls_tree", {32, 8, 4, 0});
  CHECK(four.latency.value() * 1e6 == Approx(108.6));
  CHECK(four.algbw.value() / 1e9 == Approx(187.9).epsilon(0.01));
}

TEST_CASE("rings across nodes share each GPU's port: NCCL's search finds no more than it carries") {
  // 8 NICs of 48 GB/s beside a port of 0.8 x 450 GB/s; 72 NICs of a rack; one GPU uses no port.
  const auto graph = [](const GroupShape& shape, double port, int nics, GpuGeneration generation) {
    return expected_graph(shape, gigabytes_per_second(port), gigabits_per_second(400), nics,
                          generation);
  };
  const NcclGraph h100 = graph({16, 8, 2, 0}, 450, 8, GpuGeneration::hopper);
  CHECK(h100.channels == 8);
  CHECK(h100.across.value() == Approx(45e9));
  const NcclGraph rack = graph({144, 72, 2, 0}, 900, 72, GpuGeneration::blackwell);
  CHECK(rack.channels == 32);
  CHECK(rack.across.value() * rack.channels == Approx(720e9));
  const NcclGraph rail = graph({10, 1, 10, 0}, 450, 1, GpuGeneration::hopper);
  CHECK(rail.across.value() * rail.channels == Approx(48e9));
}

TEST_CASE("the choice on 8 A100: LL, from 4 MiB LL128, from 32 MiB Simple") {
  const NcclGraph graph = graph_of(12, 20);
  const Algorithm ring = find_nccl_algorithm("ring");
  for (double bytes = 1024; bytes <= 1e9; bytes *= 2) {
    Protocol best = Protocol::ll;
    Seconds least(1e9);
    for (const Protocol protocol : {Protocol::ll, Protocol::ll128, Protocol::simple}) {
      const NcclCall call{protocol, CollectiveKind::all_reduce, Bytes(bytes), {8, 8, 1, 0}};
      const Seconds time = ring->tuner_time(call, graph, {}).total(call.bytes);
      if (time < least) best = protocol;
      least = std::min(least, time);
    }
    CAPTURE(bytes);
    const Protocol expected = bytes < 4 * 1048576    ? Protocol::ll
                              : bytes < 32 * 1048576 ? Protocol::ll128
                                                     : Protocol::simple;
    CHECK(best == expected);
  }
}
