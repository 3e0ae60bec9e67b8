// SPDX-License-Identifier: Apache-2.0
// PAT: what each rank holds after each step, NCCL's own table as a real log prints it, and that it
// is taken only by groups and versions of NCCL that can. Its bytes on the links: wire_bytes_test.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>

#include "base/file.hpp"
#include "calibrate/calibration.hpp"
#include "calibrate/collective_calibration.hpp"
#include "calibrate/group_layout.hpp"
#include "calibrate/nccl_algorithm.hpp"
#include "calibrate/observations.hpp"

using namespace amsp;

namespace {

const Algorithm pat = find_nccl_algorithm("pat");

// One GPU on each of the first nodes.
std::vector<GpuId> one_per_node(const ClusterSpec& cluster) {
  std::vector<GpuId> group;
  for (int node = 0; node < cluster.nodes; ++node) group.emplace_back(node * cluster.node.gpus);
  return group;
}

bool is_candidate(CollectiveKind kind, const GroupShape& shape, const Hardware& hardware) {
  const auto all = candidates(kind, shape, hardware);
  return std::count(all.begin(), all.end(), Candidate{pat, Protocol::simple}) == 1;
}

std::vector<Observation> gathers(std::optional<NcclVersion> nccl, const ClusterSpec& cluster) {
  Hardware hardware = hardware_of(cluster);
  hardware.nccl = nccl.value_or(assumed_nccl);
  std::vector<Observation> rows;
  for (const int nodes : {4, 16, 64}) {
    for (double bytes = 4096; bytes < 3e9; bytes *= 4) {
      Observation row;
      row.kind = CollectiveKind::all_gather;
      row.shape = {nodes, 1, nodes, 1};
      row.bytes = Bytes(bytes);
      row.time = physics_time(row.kind, row.bytes, row.shape, hardware, default_parameters(cluster))
                     .total();
      row.source = "planted";
      row.nccl = nccl;
      rows.push_back(row);
    }
  }
  return rows;
}

}  // namespace

TEST_CASE("PAT's messages carry an all_gather to the end, and a reduce_scatter, in log2 n steps") {
  for (const int nodes : {2, 3, 4, 5, 7, 8, 13, 16, 33}) {
    const ClusterSpec cluster = resized(load_cluster("dgx-h100"), 8 * nodes);
    const Network network(cluster);
    const auto group = one_per_node(cluster);
    const Bytes bytes(nodes * 1e6);  // 1 MB from each rank
    for (const CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
      CAPTURE(nodes, name_of(kind));
      const bool gathers = kind == CollectiveKind::all_gather;
      const int channels = GroupLayout(group, network).channels;
      std::map<int, std::vector<Message>> by_step;
      for (const Message& m : pat->messages(kind, bytes, group, 0, network))
        by_step[m.step].push_back(m);
      CHECK(static_cast<int>(by_step.size()) == static_cast<int>(std::ceil(std::log2(nodes))));
      // Of each rank: the parts that it holds (all_gather); the ranks whose sum it holds of each
      // part (reduce_scatter). Which parts a message carries, its size alone does not say: a
      // binomial tree passes on over 2^k those that came from a multiple of 2^(k+1) away and have
      // as far to go.
      std::vector<std::map<int, std::set<int>>> held(static_cast<std::size_t>(nodes));
      for (int rank = 0; rank < nodes; ++rank)
        for (int part = 0; part < nodes; ++part)
          if (!gathers || part == rank) held[static_cast<std::size_t>(rank)][part] = {rank};
      for (const auto& [step, messages] : by_step) {
        auto after = held;
        for (const Message& m : messages) {
          const int from = cluster.node_of(m.from).index, to = cluster.node_of(m.to).index;
          const int distance = ((gathers ? to - from : from - to) + nodes) % nodes;
          int carried = 0;
          for (int part = 0; part < nodes; ++part) {
            const int way = ((gathers ? from : to) - part + nodes) % nodes;
            if (way % (2 * distance) != 0 || way + distance >= nodes) continue;
            const auto& sent = held[static_cast<std::size_t>(from)];
            REQUIRE(sent.count(part) == 1);  // it has what it sends
            after[static_cast<std::size_t>(to)][part].insert(sent.at(part).begin(),
                                                             sent.at(part).end());
            ++carried;
          }
          CHECK(m.bytes.value() == Approx(carried * 1e6 / channels));
        }
        held = std::move(after);
      }
      for (int rank = 0; rank < nodes; ++rank) {
        const auto& mine = held[static_cast<std::size_t>(rank)];
        if (gathers) CHECK(static_cast<int>(mine.size()) == nodes);
        if (!gathers) CHECK(static_cast<int>(mine.at(rank).size()) == nodes);
      }
    }
  }
}

TEST_CASE("PAT as NCCL 2.29.7 prints its own model") {
  // Two nodes of one GPU on sockets: 2 channels, the tree's at 2.4 GB/s: 17.6 us, 3.6 GB/s.
  NcclGraph graph;
  graph.channels = 2;
  graph.inside = graph.across = gigabytes_per_second(1.2);
  graph.tree_inside = gigabytes_per_second(2.4);
  const auto time = [&](const GroupShape& shape) {
    return pat->tuner_time({Protocol::simple, CollectiveKind::all_gather, Bytes(1e6), shape}, graph,
                           {});
  };
  CHECK(time({2, 1, 2, 1}).latency.value() * 1e6 == Approx(17.6));
  CHECK(time({2, 1, 2, 1}).algbw.value() / 1e9 == Approx(3.6));
  // 8 + 4 x 14 / 3.5 + 2.8 x 16; beyond two nodes the rate across.
  CHECK(time({16, 1, 16, 1}).latency.value() * 1e6 == Approx(68.8));
  CHECK(time({16, 1, 16, 1}).algbw.value() / 1e9 == Approx(1.8));
}

TEST_CASE("PAT only with one GPU on each node, and only where NCCL has it") {
  Hardware hardware = hardware_of(load_cluster("dgx-h100"));
  const GroupShape thin{16, 1, 16, 1}, full{16, 8, 2, 0}, inside{8, 8, 1, 0}, uneven{3, 2, 2, 1};
  for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
    CHECK(is_candidate(kind, thin, hardware));
    CHECK_FALSE(is_candidate(kind, full, hardware));
    CHECK_FALSE(is_candidate(kind, inside, hardware));
    CHECK_FALSE(is_candidate(kind, uneven, hardware));
    for (const NcclVersion older : {assumed_nccl, NcclVersion{2, 18, 3}}) {
      Hardware before = hardware;
      before.nccl = older;
      CHECK_FALSE(is_candidate(kind, thin, before));
    }
  }
  CHECK_FALSE(is_candidate(CollectiveKind::all_reduce, thin, hardware));
  CHECK_FALSE(is_candidate(CollectiveKind::all_gather, thin,
                           hardware_of(load_cluster("mi300x-8gpu"))));  // RCCL
  const auto shipped = load_calibration(data_folder("calibrate/data") / "a800-4hdr.json");
  CHECK_FALSE(is_candidate(CollectiveKind::all_gather, thin, shipped.collectives->hardware));
}

TEST_CASE("the version that logs name decides, and the calibration remembers it") {
  const ClusterSpec cluster = resized(load_cluster("dgx-h100"), 8 * 64);
  const GroupShape thin{16, 1, 16, 1};
  for (const auto version : {std::optional<NcclVersion>{}, std::optional(NcclVersion{2, 21, 5}),
                             std::optional(NcclVersion{2, 26, 6})}) {
    CAPTURE(version ? to_text(*version) : "none");
    const CollectiveCalibration fit = fit_collectives(gathers(version, cluster), cluster);
    CHECK(fit.hardware.nccl == version.value_or(assumed_nccl));
    const bool later = version && *version > assumed_nccl;
    CHECK(is_candidate(CollectiveKind::all_gather, thin, fit.hardware) == later);
    const auto again =
        read_collective_calibration(JsonValue::parse_text(to_json(fit), "fit"), cluster);
    CHECK(again.hardware.nccl == fit.hardware.nccl);
    const auto taken = [&](double bytes) {
      return again.at(CollectiveKind::all_gather, Bytes(bytes), {64, 1, 64, 1})
          .physics.candidate.algorithm;
    };
    // NCCL takes it for 64 nodes' middle sizes: 206 us where LL128's ring takes 540.
    CHECK((taken(1 << 20) == pat) == later);
    CHECK(taken(1 << 30) == find_nccl_algorithm("ring"));
  }
  // One log of an older NCCL is enough.
  auto rows = gathers(NcclVersion{2, 26, 6}, cluster);
  rows.front().nccl = NcclVersion{2, 20, 3};
  CHECK(fit_collectives(rows, cluster).hardware.nccl == NcclVersion{2, 20, 3});
}

TEST_CASE("a log that names PAT is fitted with it, whatever version it names") {
  const ClusterSpec cluster = resized(load_cluster("dgx-h100"), 8 * 16);
  const std::string text =
      "collective,gpus,gpus_per_node,bytes,time_us,algo,proto\n"
      "all_gather,16,1,1048576,120,PAT,Simple\n"
      "all_gather,16,1,4194304,190,pat,Simple\n";
  const Observations read = observations_of(read_log_text(text, "named.csv"), cluster);
  REQUIRE(read.rows.size() == 2);
  for (const Observation& row : read.rows) CHECK(row.forced_algorithm == pat);
  const CollectiveCalibration fit = fit_collectives(read.rows, cluster);
  CHECK(fit.hardware.nccl == NcclVersion{2, 23, 4});
}

TEST_CASE("versions of NCCL as logs write them") {
  CHECK(parse_nccl_version("2.23.4") == NcclVersion{2, 23, 4});
  CHECK(parse_nccl_version("2.26.6+cuda12.8") == NcclVersion{2, 26, 6});
  for (const char* text :
       {"", "2", "2.23", "2.23.", "v2.23.4", "2..3", "-2.3.4", "2.99999999999.1"})
    CHECK_FALSE(parse_nccl_version(text));
}

TEST_CASE("every version of NCCL has something to take for every kind") {
  Hardware hardware = hardware_of(load_cluster("dgx-h100"));
  for (const NcclVersion version : {NcclVersion{1, 0, 0}, NcclVersion{2, 6, 4}, described_nccl}) {
    hardware.nccl = version;
    for (const std::string& name : collective_kind_names()) {
      const CollectiveKind kind = parse_collective_kind(name);
      for (const GroupShape& shape :
           {GroupShape{8, 8, 1, 0}, GroupShape{32, 8, 4, 0}, GroupShape{4, 1, 4, 0}}) {
        CAPTURE(to_text(version), name, shape.ranks);
        CHECK_FALSE(candidates(kind, shape, hardware).empty());
      }
    }
  }
}
