// SPDX-License-Identifier: Apache-2.0
// CollNet: bytes on every link against closed forms, time against the ring's, NCCL's own table, and
// a log that names it.
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "calibrate/collective_calibration.hpp"
#include "calibrate/logs/measurement.hpp"
#include "calibrate/nccl_algorithm.hpp"
#include "calibrate/observations.hpp"

using namespace amsp;

namespace {

const Candidate collnet{find_nccl_algorithm("collnet"), Protocol::simple};

std::vector<GpuId> every_gpu(const ClusterSpec& cluster) {
  std::vector<GpuId> group;
  for (int gpu = 0; gpu < cluster.gpus(); ++gpu) group.emplace_back(gpu);
  return group;
}

// Bytes by the kind of a link and the vertex that it leaves or enters.
struct Carried {
  std::map<int, double> into_node, out_of_node;  // over NICs
  std::map<int, double> up, down;                // leaf switches' links to their spines
  double fullest_port = 0;
  double between_spines_and_core = 0;
};

Carried carried_by(const char* algorithm, Bytes bytes, const ClusterSpec& cluster) {
  const Network network(cluster);
  const Traffic traffic = find_collective_algorithm(algorithm).traffic(
      CollectiveKind::all_reduce, bytes, every_gpu(cluster), 0, network);
  Carried carried;
  for (const LinkLoad& load : traffic.links) {
    const Link& link = network.links()[load.link.position()];
    const Vertex& from = network.vertices()[link.from.position()];
    const Vertex& to = network.vertices()[link.to.position()];
    const double here = load.load * traffic.flow.value();
    if (link.kind == LinkKind::nvlink) carried.fullest_port = std::max(carried.fullest_port, here);
    if (from.kind == VertexKind::leaf && to.kind == VertexKind::nic) {
      carried.into_node[to.node.index] += here;
    } else if (from.kind == VertexKind::nic && to.kind == VertexKind::leaf) {
      carried.out_of_node[from.node.index] += here;
    } else if (from.kind == VertexKind::leaf && to.kind == VertexKind::spine) {
      carried.up[from.slot] += here;
    } else if (from.kind == VertexKind::spine && to.kind == VertexKind::leaf) {
      carried.down[to.slot] += here;
    } else if (from.kind == VertexKind::core || to.kind == VertexKind::core) {
      carried.between_spines_and_core += here;
    }
  }
  return carried;
}

}  // namespace

TEST_CASE("CollNet: a node's NICs carry the buffer once each way, a head's port its parts") {
  for (const int nodes : {2, 3, 16}) {
    CAPTURE(nodes);
    const ClusterSpec cluster = resized(load_cluster("a800-4hdr"), 8 * nodes);
    const Bytes bytes(64e6);
    const Carried carried = carried_by("collnet", bytes, cluster);
    REQUIRE(carried.into_node.size() == static_cast<std::size_t>(nodes));
    REQUIRE(carried.out_of_node.size() == static_cast<std::size_t>(nodes));
    for (const auto& [node, here] : carried.into_node) CHECK(here == Approx(bytes.value()));
    for (const auto& [node, here] : carried.out_of_node) CHECK(here == Approx(bytes.value()));
    // 4 heads: 7 GPUs send a head a quarter each, and it gets 3 quarters from the other heads.
    CHECK(carried.fullest_port == Approx((7 + 3) / 4.0 * bytes.value()));
    const WireBytes wire = collnet.algorithm->wire_bytes(CollectiveKind::all_reduce, bytes,
                                                         {8 * nodes, 8, nodes, 0}, 4);
    CHECK(wire.port.value() == Approx(carried.fullest_port));
    CHECK(wire.nic.value() == Approx(bytes.value() / 4));
    // The ring's NICs carry 2(n-1)/n as much.
    const double n = cluster.gpus();
    const Carried ring = carried_by("ring", bytes, cluster);
    CHECK(ring.into_node.at(0) / carried.into_node.at(0) == Approx(2 * (n - 1) / n));
  }
}

TEST_CASE("CollNet: one copy up and one down from every leaf and pod, whatever is below") {
  for (const Spreading spreading : {Spreading::ideal, Spreading::ecmp}) {
    for (const FabricKind kind :
         {FabricKind::leaf_spine, FabricKind::fat_tree, FabricKind::rail_optimized}) {
      CAPTURE(name_of(kind), static_cast<int>(spreading));
      ClusterSpec cluster = resized(load_cluster("a800-4hdr"), 8 * 12);
      cluster.fabric.kind = kind;
      cluster.fabric.nodes_per_leaf = 2;
      cluster.fabric.leaves_per_pod = 3;
      cluster.fabric.spines = 4;
      cluster.fabric.spreading = spreading;
      const Bytes bytes(64e6);
      const Carried carried = carried_by("collnet", bytes, cluster);
      const bool rails = kind == FabricKind::rail_optimized;
      REQUIRE(carried.up.size() == (rails ? 24 : 6));
      REQUIRE(carried.down.size() == carried.up.size());
      const double share = rails ? 0.25 : 1.0;  // a rail's leaf holds one NIC of four
      for (const auto& [leaf, here] : carried.up) CHECK(here == Approx(share * bytes.value()));
      for (const auto& [leaf, here] : carried.down) CHECK(here == Approx(share * bytes.value()));
      // Two pods, each up and down.
      CHECK(carried.between_spines_and_core ==
            Approx(kind == FabricKind::fat_tree ? 4 * bytes.value() : 0.0));
    }
  }
}

TEST_CASE("CollNet: up to twice a ring's bus bandwidth, and only where it is stated") {
  const ClusterSpec cluster = resized(load_cluster("a800-4hdr"), 8 * 64);
  const PhysicsParameters p = default_parameters(cluster);
  Hardware hardware = hardware_of(cluster);
  const auto seconds = [&](const Candidate& c, const GroupShape& shape) {
    return candidate_time(c, CollectiveKind::all_reduce, Bytes(16e9), shape, hardware, p)
        .total()
        .value();
  };
  const GroupShape thin{64, 1, 64, 1};  // one GPU a node: the NICs alone decide
  const Candidate ring{find_nccl_algorithm("ring"), Protocol::simple};
  CHECK(seconds(ring, thin) / seconds(collnet, thin) == Approx(2 * 63 / 64.0).epsilon(0.02));
  // All 8 GPUs of a node over 4 heads: 2.5 x bytes on a head's port, which is then the fullest.
  const GroupShape full{512, 8, 64, 0};
  CHECK(seconds(collnet, full) == Approx(2.5 * 16e9 / p[Parameter::rate_inside]).epsilon(0.01));
  const auto taken = [&](CollectiveKind kind, const GroupShape& shape) {
    const auto all = candidates(kind, shape, hardware);
    return std::count(all.begin(), all.end(), collnet);
  };
  CHECK(taken(CollectiveKind::all_reduce, full) == 0);
  for (const CollnetUse use : {CollnetUse::by_tuner, CollnetUse::always}) {
    hardware.collnet = use;
    CHECK(taken(CollectiveKind::all_reduce, full) == 1);
    CHECK(taken(CollectiveKind::all_gather, full) == 0);
    CHECK(taken(CollectiveKind::all_reduce, {8, 8, 1, 0}) == 0);
  }
}

TEST_CASE("CollNetDirect as NCCL models it, worked out from its table") {
  NcclGraph graph;
  graph.channels = 8;
  graph.inside = graph.across = gigabytes_per_second(24);
  graph.tree_inside = gigabytes_per_second(48);
  NcclSystem system;
  const auto time = [&](const GroupShape& shape) {
    return collnet.algorithm->tuner_time(
        {Protocol::simple, CollectiveKind::all_reduce, Bytes(1e9), shape}, graph, system);
  };
  // 2 (3.7 + 0.4 x 7) + 31 us; 8 channels x 48 / 2, 8 GPUs on 8 channels.
  CHECK(time({128, 8, 16, 0}).latency.value() * 1e6 == Approx(44.0));
  CHECK(time({128, 8, 16, 0}).algbw.value() / 1e9 == Approx(192.0));
  CHECK(time({16, 1, 16, 0}).latency.value() * 1e6 == Approx(31.0));
  system.generation = GpuGeneration::hopper;
  CHECK(time({128, 8, 16, 0}).algbw.value() / 1e9 == Approx(0.85 * 192));
  graph.channels = 4;  // 8 GPUs on 4: 2 - (2 - 1) / 2 = 1.5
  CHECK(time({128, 8, 16, 0}).algbw.value() / 1e9 == Approx(0.85 * 96 / 1.5));
}

TEST_CASE("a log that names CollNet is fitted with it: what was planted is found") {
  // Planted: 52.6 us + bytes / (21.5 GB/s), 4 nodes of 2 GPUs on one NIC each.
  const auto runs =
      read_logs(std::string(AMSP_TEST_FOLDER) + "/calibrate/fixtures/collnet-all_reduce.txt");
  REQUIRE(runs.size() == 1);
  REQUIRE(runs.front().rows.size() == 12);
  for (const MeasuredRow& row : runs.front().rows) CHECK(row.algorithm == "collnet_direct");
  const ClusterSpec cluster = resized(load_cluster("a800-4hdr"), 32);
  const Observations read = observations_of(runs, cluster);
  REQUIRE(read.rows.size() == 24);
  CHECK(read.refused.empty());
  for (const Observation& row : read.rows) CHECK(row.forced_algorithm == collnet.algorithm);

  const CollectiveCalibration fit = fit_collectives(read.rows, cluster);
  CHECK(fit.hardware.collnet == CollnetUse::always);
  const PhysicsParameters& p = fit.system.parameters;
  CHECK(p[Parameter::rate_collnet] == Approx(21.5e9).epsilon(0.02));
  // Two hops inside and 0.8 us for the other GPU belong to the 52.6 us.
  CHECK(p[Parameter::latency_collnet] + 2 * p[Parameter::inside_simple] + 0.8e-6 ==
        Approx(52.6e-6).epsilon(0.02));
  const GroupShape shape = read.rows.front().shape;
  const auto at = [&](const CollectiveCalibration& model, double bytes) {
    return model.at(CollectiveKind::all_reduce, Bytes(bytes), shape);
  };
  CHECK(at(fit, 1e8).physics.candidate == collnet);
  CHECK(at(fit, 1e8).range == PredictionRange::measured);
  CHECK(at(fit, 1e8).time.value() == Approx(52.6e-6 + 1e8 / 21.5e9).epsilon(0.02));

  // Written and read again.
  const std::string text = to_json(fit);
  const auto again = read_collective_calibration(JsonValue::parse_text(text, "fit"), cluster);
  CHECK(again.hardware.collnet == CollnetUse::always);
  CHECK(again.system.parameters.values == fit.system.parameters.values);
  CHECK(at(again, 1e8).time.value() == Approx(at(fit, 1e8).time.value()).epsilon(1e-9));
  CHECK(at(again, 1e8).physics.candidate == collnet);
}

TEST_CASE("CollNet beside runs that say nothing serves its own parameters only") {
  const ClusterSpec cluster = resized(load_cluster("a800-4hdr"), 32);
  const Hardware hardware = hardware_of(cluster);
  const PhysicsParameters truth = default_parameters(cluster);
  std::vector<Observation> rows;
  for (const bool stated : {false, true}) {
    for (double bytes = 65536; bytes < 3e9; bytes *= 4) {
      Observation row;
      row.shape = {32, 8, 4, 0};
      row.bytes = Bytes(bytes);
      row.source = stated ? "collnet" : "silent";
      if (stated) row.forced_algorithm = collnet.algorithm;
      row.time =
          stated ? candidate_time(collnet, row.kind, row.bytes, row.shape, hardware, truth).total()
                 : physics_time(row.kind, row.bytes, row.shape, hardware, truth).total();
      rows.push_back(row);
    }
  }
  const CollectiveCalibration fit = fit_collectives(rows, cluster);
  CHECK(fit.hardware.collnet == CollnetUse::never);
  CHECK(fit.find(CollectiveKind::all_reduce)->rows.size() == rows.size() / 2);
  CHECK(to_json(fit).find("collnet\":") == std::string::npos);
  CHECK(fit.at(CollectiveKind::all_reduce, Bytes(1e9), rows.front().shape)
            .physics.candidate.algorithm != collnet.algorithm);
}
