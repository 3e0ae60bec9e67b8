// SPDX-License-Identifier: Apache-2.0
// The cluster that logs describe, where no cluster is named: what is assumed is said.
#include <catch2/catch.hpp>

#include "calibrate/nic_line_rate.hpp"
#include "calibrate/observations.hpp"
#include "calibrate/physics.hpp"
#include "calibrate/plausible_times.hpp"

using namespace amsp;

namespace {

MeasuredRun run_on(const std::string& gpu, CollectiveKind kind, int nodes, int per_node) {
  MeasuredRun run;
  run.file = "log.txt";
  run.gpu = gpu;
  run.collective = kind;
  run.nranks = nodes * per_node;
  run.nnodes = nodes;
  run.gpus_per_node = per_node;
  return run;
}

void add(MeasuredRun& run, Bytes bytes, Seconds time) {
  MeasuredRow row;
  row.bytes = bytes;
  row.out_of_place.time = time;
  run.rows.push_back(row);
}

bool assumes(const ClusterSpec& cluster, const std::string& part) {
  for (const std::string& text : cluster.assumptions)
    if (text.find(part) != std::string::npos) return true;
  return false;
}

ClusterSpec cluster_with(const std::string& gpu, int gpus) {
  MeasuredRun run = run_on(gpu, CollectiveKind::all_reduce, 1, gpus);
  add(run, Bytes(1 << 26), Seconds(1e-3));
  return cluster_of_runs({run});
}

}  // namespace

TEST_CASE("how GPUs are joined follows from their type, and is stated as an assumption") {
  for (const char* gpu : {"NVIDIA A100-SXM4-80GB", "Tesla V100-SXM2-32GB"}) {
    const ClusterSpec cluster = cluster_with(gpu, 8);
    CHECK(cluster.node.intra.kind == IntraNodeKind::nvswitch);
    CHECK_FALSE(cluster.node.intra.multicast);
    CHECK(assumes(cluster, "into a switch taken, which does not reduce"));
  }
  const ClusterSpec hopper = cluster_with("NVIDIA H100 80GB HBM3", 8);
  CHECK(hopper.node.intra.multicast);
  CHECK(assumes(hopper, "which reduces (NVLS)"));
  for (const char* gpu : {"NVIDIA H100 PCIe", "NVIDIA A100 80GB PCIe", "NVIDIA RTX A6000"}) {
    const ClusterSpec cluster = cluster_with(gpu, 8);
    CHECK(cluster.node.intra.kind == IntraNodeKind::pcie);
    CHECK(assumes(cluster, "PCIe taken"));
  }
  CHECK_FALSE(assumes(cluster_with("NVIDIA L40S", 8), "joined"));  // has no links
}

TEST_CASE("NCCL's generation follows from the catalogue's architecture") {
  const auto generation = [](const std::string& gpu) {
    return hardware_of(cluster_with(gpu, 8)).system.generation;
  };
  CHECK(generation("NVIDIA RTX PRO 6000 Blackwell Workstation Edition") ==
        GpuGeneration::blackwell);
  CHECK(generation("NVIDIA GeForce RTX 5090") == GpuGeneration::blackwell);
  CHECK(generation("NVIDIA GB200") == GpuGeneration::blackwell);
  CHECK(generation("NVIDIA GH200 120GB") == GpuGeneration::hopper);
  CHECK(generation("NVIDIA H20") == GpuGeneration::hopper);
  CHECK(generation("NVIDIA L40S") == GpuGeneration::ampere);
  CHECK(generation("Quadro RTX 6000") == GpuGeneration::volta);
  CHECK(generation("Tesla V100-SXM2-32GB") == GpuGeneration::volta);
  CHECK(generation("AMD Instinct MI300X") == GpuGeneration::hopper);
  // A GPU of the user's own goes by its name.
  ClusterSpec own = cluster_with("NVIDIA H100 80GB HBM3", 8);
  own.node.gpu.name = "H100 of the future";
  CHECK(hardware_of(own).system.generation == GpuGeneration::hopper);
  own.node.gpu.name = "unheard-of";
  CHECK(hardware_of(own).system.generation == GpuGeneration::ampere);
}

TEST_CASE("the line rate that a scatter needs is the root's NIC's, not a ring's") {
  // The root sends (n-r)/n of 1 GiB over its own NIC in 0.1 s: 8.05 GB/s, so 100 Gb/s. A ring over
  // eight NICs would have carried an eighth of that on each.
  MeasuredRun run = run_on("NVIDIA A100-SXM4-80GB", CollectiveKind::scatter, 4, 8);
  add(run, Bytes(1 << 30), Seconds(0.1));
  CHECK(cluster_of_runs({run}).node.nics.at(0).rate == gigabits_per_second(100));
}

TEST_CASE("logs that stop early: the usual NICs of such GPUs, and it is said") {
  // 20 GB/s over each of eight NICs, from 64 KiB on, after 30 us.
  const auto cluster_up_to = [](double most, const std::string& gpu) {
    MeasuredRun run = run_on(gpu, CollectiveKind::all_gather, 4, 8);
    for (double bytes = 65536; bytes <= most; bytes *= 2)
      add(run, Bytes(bytes), Seconds(30e-6 + bytes / 20e9 / 8));
    return cluster_of_runs({run});
  };
  const ClusterSpec early = cluster_up_to(1 << 20, "NVIDIA H100 80GB HBM3");
  CHECK(early.node.nics.at(0).rate == gigabits_per_second(400));
  CHECK(guessed_nic_rate(early).find("400 Gb/s taken, usual beside NVIDIA H100") !=
        std::string::npos);
  CHECK(cluster_up_to(1 << 20, "NVIDIA A100-SXM4-80GB").node.nics.at(0).rate ==
        gigabits_per_second(200));
  const ClusterSpec late = cluster_up_to(1 << 30, "NVIDIA H100 80GB HBM3");
  CHECK(late.node.nics.at(0).rate == gigabits_per_second(200));
  CHECK(guessed_nic_rate(late).empty());
}

TEST_CASE("what a GPU in a mesh can send counts its own links, not those of the node") {
  const ClusterSpec mesh = load_cluster("mi300x-8gpu");
  Observation row;
  row.kind = CollectiveKind::all_gather;
  row.shape = shape_on(mesh, 8);
  row.bytes = Bytes(1e9);
  // 60 times what the seven links of one GPU carry: some four times less than all links of a node.
  row.time = row.bytes / (mesh.node.intra.gpu_rate * 60) * bus_factor(row.kind, 8);
  CHECK(implausible(row, mesh));
}
