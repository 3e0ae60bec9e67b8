// SPDX-License-Identifier: Apache-2.0
// Sends between nodes that nobody measured here, against bus bandwidths of public logs.
#include "calibrate/pair_channels.hpp"

#include <catch2/catch.hpp>

#include "calibrate/collective_model.hpp"
#include "calibrate/observations.hpp"
#include "calibrate/physics.hpp"

using namespace amsp;

namespace {

struct Shown {
  const char* cluster;
  int ranks, ranks_per_node;
  int channels;     // NCCL's code by hand
  double measured;  // GB/s of sendrecv_perf from 256 MiB on
};

// H100: 10 nodes, NCCL 2.29.2, one GPU and NIC and two of each. B200: 8 GPUs and NICs, NCCL 2.29.7.
constexpr Shown shown[] = {{"dgx-h100", 10, 1, 2, 24.9}, {"dgx-h100", 20, 2, 2, 25.2},
                           {"dgx-b200", 16, 8, 4, 42.0}, {"dgx-b200", 32, 8, 4, 44.4},
                           {"dgx-b200", 64, 8, 2, 26.2}, {"dgx-b200", 128, 8, 1, 14.7},
                           {"dgx-b200", 256, 8, 1, 14.5}};

}  // namespace

TEST_CASE("a pair across nodes has as many channels as NCCL gives it, and their rate") {
  for (const Shown& log : shown) {
    const ClusterSpec cluster = load_cluster(log.cluster);
    const GroupShape shape = shape_on(cluster, log.ranks, log.ranks_per_node);
    CAPTURE(log.cluster, log.ranks);
    CHECK(channels_of_pair(shape, hardware_of(cluster)) == log.channels);
    const Bytes bytes(1073741824);
    const CollectiveEstimate estimate =
        load_collective_model("", cluster)
            ->estimate(CollectiveKind::send_recv, bytes, Dtype::fp32, shape);
    CHECK((bytes / estimate.time).value() / 1e9 == Approx(log.measured).epsilon(0.15));
    const bool said = estimate.range_note.find("NCCL gives a pair") != std::string::npos;
    CHECK(said == (log.channels < 4));
  }
}

TEST_CASE("what pairs of older NCCL reached lies in the interval") {
  // GB/s. A100 on one HDR NIC, NCCL 2.16.5, and two H100, NCCL 2.28.7.
  for (const auto& [name, measured] : {std::pair("dgx-a100", 14.6), std::pair("dgx-h100", 13.6)}) {
    const ClusterSpec cluster = load_cluster(name);
    const Bytes bytes(1073741824);
    const CollectiveEstimate estimate =
        load_collective_model("", cluster)
            ->estimate(CollectiveKind::send_recv, bytes, Dtype::fp32, shape_on(cluster, 2, 1));
    CHECK(estimate.high.value() > bytes.value() / measured / 1e9);
    CHECK(estimate.low.value() < bytes.value() / measured / 1e9);
  }
}

TEST_CASE("a calibration of a pair on two channels knows that larger groups have one") {
  const ClusterSpec cluster = load_cluster("dgx-h100");
  const auto rate_on_16_nodes = [&](const std::optional<NcclVersion>& nccl) {
    std::vector<Observation> rows;
    for (double bytes = 1 << 20; bytes < 5e9; bytes *= 2) {
      Observation row;
      row.kind = CollectiveKind::send_recv;
      row.shape = shape_on(cluster, 10, 1);
      row.bytes = Bytes(bytes);
      row.time = Seconds(30e-6 + bytes / 25e9);
      row.nccl = nccl;
      row.source = "planted";
      rows.push_back(row);
    }
    const CollectiveCalibration fit = fit_collectives(rows, cluster);
    const Bytes bytes(4294967296.0);
    const auto at = fit.at(CollectiveKind::send_recv, bytes, shape_on(cluster, 128, 8));
    return (bytes / at.time).value() / 1e9;
  };
  CHECK(rate_on_16_nodes(NcclVersion{2, 29, 2}) == Approx(12.5).epsilon(0.05));
  CHECK(rate_on_16_nodes(std::nullopt) == Approx(25).epsilon(0.05));
}

TEST_CASE("default intervals begin no earlier than the data sheets' rates allow") {
  for (const char* name : {"dgx-h100", "dgx-a100", "a800-4hdr"}) {
    const ClusterSpec cluster = load_cluster(name);
    const Bytes bytes(4294967296.0);
    for (const int ranks : {16, 64, 256}) {
      CAPTURE(name, ranks);
      const auto low = [&](CollectiveKind kind) {
        return load_collective_model("", cluster)
            ->estimate(kind, bytes, Dtype::fp32, shape_on(cluster, ranks, 8))
            .low;
      };
      const Bandwidth nic = cluster.node.nics.front().rate;
      CHECK(low(CollectiveKind::send_recv) >= bytes / nic);
      const double part = (ranks - 1.0) / ranks;
      CHECK(low(CollectiveKind::all_gather) >=
            bytes * part / (nic * static_cast<double>(cluster.node.nics.size())));
    }
  }
}

TEST_CASE("without NCCL's rule, and inside a node, a pair has what the hardware has") {
  const ClusterSpec amd = load_cluster("mi300x-8gpu");
  CHECK(share_of_pair({16, 8, 2, 0}, hardware_of(amd)) == 1);
  const ClusterSpec h100 = load_cluster("dgx-h100");
  const CollectiveEstimate inside = load_collective_model("", h100)->estimate(
      CollectiveKind::send_recv, Bytes(1e10), Dtype::fp32, shape_on(h100, 8));
  CHECK(1e10 / inside.time.value() > 300e9);  // public logs: 367 GB/s
}
