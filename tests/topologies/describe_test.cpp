// SPDX-License-Identifier: Apache-2.0
// amsp topology's three formats say the same as the network.
#include "topologies/describe.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/units_text.hpp"

namespace amsp {
namespace {

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++found;
  return found;
}

}  // namespace

TEST_CASE("json: links of every kind add up to the network's") {
  const Network network(load_cluster("dgx-1-v100"));
  const auto json = nlohmann::json::parse(describe_as_json(network));
  std::size_t links = 0;
  for (const auto& group : json["links"]) links += group["count"].get<std::size_t>();
  CHECK(links == network.links().size());
  CHECK(json["gpus"] == 128);
  // 16 nodes x 4 NICs x 96 % of 12.5 GB/s over two halves.
  const Bandwidth bisection =
      parse_bandwidth(json["bisection_bandwidth"].get<std::string>(), {"json", ""});
  CHECK(bisection.value() == Approx(8 * 4 * 0.96 * 12.5e9));
  CHECK(json["intra"]["links"]["0-3"] == 2);
  CHECK(json["intra"]["gpu_sockets"] == std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1});
  CHECK(json["distances"].back()["switches"] == 3);
}

TEST_CASE("table: names what is assumed and where figures come from") {
  const std::string table = describe_as_table(Network(load_cluster("a800-4hdr")));
  CHECK_THAT(table, Catch::Contains("128 of 8 GPUs = 1024 GPUs"));
  CHECK_THAT(table, Catch::Contains("40-port"));
  CHECK_THAT(table, Catch::Contains("assumed") && Catch::Contains("sources"));
}

TEST_CASE("table: a GPU without a PCIe switch has none, not one of number -1") {
  ClusterSpec cluster = load_cluster("a800-4hdr");
  CHECK_THAT(describe_as_table(Network(cluster)),
             Catch::Contains("PCIe switches 0,0,1,1,2,2,3,3\n"));
  cluster.node.gpu_switch = {0, 0, 1, 1, -1, -1, -1, -1};
  CHECK_THAT(describe_as_table(Network(cluster)),
             Catch::Contains("PCIe switches 0,0,1,1,-,-,-,- (-: directly at the socket)"));
  cluster.node.gpu_switch.assign(8, -1);
  const std::string none = describe_as_table(Network(cluster));
  CHECK_THAT(none, Catch::Contains("PCIe switches of NICs only"));
  CHECK_THAT(none, !Catch::Contains("-1,"));
}

TEST_CASE("dot: every drawn device once, an edge for each pair of links") {
  ClusterSpec cluster = load_cluster("a800-4hdr");
  cluster.nodes = 10;
  const Network network(cluster);
  const std::string dot = describe_as_dot(network, 10);
  CHECK(count(dot, "shape=") == network.vertices().size());
  CHECK(count(dot, " -- ") == network.links().size() / 2);
  CHECK(count(describe_as_dot(network, 1), "subgraph") == 1);
}

}  // namespace amsp
