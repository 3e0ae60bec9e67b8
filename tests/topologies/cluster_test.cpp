// SPDX-License-Identifier: Apache-2.0
// The cluster file: what is refused and how, and that printing loses nothing.
#include "topologies/cluster.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "base/file.hpp"

namespace amsp {

TEST_CASE("every shipped cluster survives printing and parsing") {
  const std::vector<std::string> clusters = data_names("topologies");
  REQUIRE(clusters.size() >= 2);
  for (const std::string& name : clusters) {
    INFO(name);
    const ClusterSpec cluster = load_cluster(name);
    CHECK(cluster.name == name);
    CHECK_FALSE(cluster.sources.empty());
    CHECK(parse_cluster(JsonValue::parse_text(to_json(cluster), "printed")) == cluster);
  }
}

TEST_CASE("a cluster is resized in whole nodes") {
  const ClusterSpec cluster = load_cluster("a800-4hdr");
  CHECK(resized(cluster, 64).nodes == 8);
  CHECK(resized(cluster, 4).nodes == 1);
  CHECK(resized(cluster, 4096).nodes == 512);
  CHECK_THROWS_WITH(resized(cluster, 12), Catch::Contains("8 or 16"));
}

namespace {

// The paper's cluster with one value replaced.
void parse_with(std::string_view path, std::string_view text) {
  const JsonValue json = JsonValue::parse_text(to_json(load_cluster("a800-4hdr")), "c.json");
  parse_cluster(json.with(path, text));
}

}  // namespace

TEST_CASE("what makes no sense is refused with its place") {
  using Catch::Contains;
  CHECK_THROWS_WITH(parse_with("node.gpu_count", "8"), Contains("gpu_count") && Contains("gpus"));
  CHECK_THROWS_WITH(parse_with("node.gpus", "0"), Contains("/node/gpus"));
  CHECK_THROWS_WITH(parse_with("node.intra.gpu_rate", "\"200\""), Contains("unit"));
  CHECK_THROWS_WITH(parse_with("node.intra.kind", "nvswich"), Contains("nvswitch"));
  const auto slower = [](std::string_view text) { parse_with("node.intra.slower_gpus", text); };
  CHECK_NOTHROW(slower("{\"3\": \"175 GB/s\", \"7\": \"0 GB/s\"}"));
  CHECK_THROWS_WITH(slower("{\"8\": \"175 GB/s\"}"), Contains("write 0 to 7"));
  CHECK_THROWS_WITH(slower("{\"03\": \"175 GB/s\"}"), Contains("\"03\" is not a GPU slot"));
  CHECK_THROWS_WITH(slower("{\"3\": \"200 GB/s\"}"), Contains("not slower than"));
  CHECK_THROWS_WITH(slower("{\"3\": 175}"), Contains("slower_gpus/3"));
  CHECK_THROWS_WITH(parse_with("node.pcie.gpu_switch", "[0, 1]"), Contains("the node has 8 GPUs"));
  CHECK_THROWS_WITH(parse_with("fabric", "{\"kind\": \"none\"}"), Contains("need a fabric"));
  CHECK_THROWS_WITH(parse_with("achievable.nic", "1.5"), Contains("/achievable/nic"));
  CHECK_THROWS_WITH(parse_with("node.nics", "[]"), Contains("need NICs"));
  const JsonValue box = JsonValue::parse_text(to_json(load_cluster("l40s-8gpu-pcie")), "box.json");
  CHECK_THROWS_WITH(
      parse_cluster(box.with("node.sockets", "{\"gpu_socket\": [0, 0, 0, 0, 1, 1, 1, 1]}")),
      Contains("box.json") && Contains("no path from GPU 0 to GPU 4"));
}

TEST_CASE("every split of a switch's ports that a ratio states is met") {
  const JsonValue json = JsonValue::parse_text(to_json(load_cluster("a800-4hdr")), "c.json");
  for (const int radix : {8, 40, 64, 128})
    for (int down = 4; down < radix; ++down) {
      INFO(down << " of " << radix << " ports down");
      const std::string text = fmt::format(
          R"({{"kind": "leaf_spine", "radix": {}, "oversubscription": {}, "hop_latency": "130 ns",
               "nic_latency": "0.3 us"}})",
          radix, static_cast<double>(down) / (radix - down));
      const FabricSpec fabric = parse_cluster(json.with("fabric", text)).fabric;
      CHECK(fabric.spines == radix - down);
      CHECK(fabric.nodes_per_leaf == down / 4);
    }
}

TEST_CASE("a cluster of more links than can be numbered is refused") {
  const JsonValue json = JsonValue::parse_text(to_json(load_cluster("a800-4hdr")), "c.json");
  const auto with = [&](int nodes, std::string_view kind, int per_leaf, int spines) {
    const std::string fabric = fmt::format(
        R"({{"kind": "{}", "nodes_per_leaf": {}, {} "spines": {}, "spreading": "ecmp",
             "hop_latency": "130 ns", "nic_latency": "0.3 us"}})",
        kind, per_leaf, kind == "fat_tree" ? "\"leaves_per_pod\": 1," : "", spines);
    return parse_cluster(json.with("nodes", std::to_string(nodes)).with("fabric", fabric));
  };
  using Catch::Contains;
  // Each leaf has an up and a down link to each spine: 2^20 x 4096 x 2 = 2^33 and more.
  for (const char* kind : {"leaf_spine", "rail_optimized", "fat_tree"})
    CHECK_THROWS_WITH(with(1 << 20, kind, 1, 4096), Contains("c.json: /nodes: 1048576 nodes") &&
                                                        Contains("links; at most 134217728"));
  CHECK(with(4096, "leaf_spine", 1, 1024).nodes == 4096);
  CHECK_THROWS_WITH(resized(with(2, "leaf_spine", 1, 4096), 1 << 20),
                    Contains("1048576 GPUs") && Contains("at most 134217728"));
}

TEST_CASE("a fabric may be sized by the radix of its switches") {
  const JsonValue json = JsonValue::parse_text(to_json(load_cluster("a800-4hdr")), "c.json");
  const auto fabric = [&](const char* text) {
    return parse_cluster(json.with("fabric", text)).fabric;
  };
  // 40 ports: 20 down = 5 nodes of 4 NICs, 20 up.
  const FabricSpec even = fabric(
      R"({"kind": "leaf_spine", "radix": 40, "hop_latency": "130 ns", "nic_latency": "0.3 us"})");
  CHECK(even.nodes_per_leaf == 5);
  CHECK(even.spines == 20);
  // 3 : 1: 30 down = 7 nodes, 10 up; pods of 20 leaves.
  const FabricSpec thin = fabric(R"({"kind": "fat_tree", "radix": 40, "oversubscription": 3,
                                     "hop_latency": "130 ns", "nic_latency": "0.3 us"})");
  CHECK(thin.nodes_per_leaf == 7);
  CHECK(thin.spines == 10);
  CHECK(thin.leaves_per_pod == 20);
  CHECK_THROWS_WITH(fabric(R"({"kind": "leaf_spine", "radix": 6, "hop_latency": "1 us",
                               "nic_latency": "1 us"})"),
                    Catch::Contains("/fabric/radix") && Catch::Contains("4 NICs"));
}

}  // namespace amsp
