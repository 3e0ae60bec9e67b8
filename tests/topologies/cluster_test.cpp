// SPDX-License-Identifier: Apache-2.0
// The cluster file: what is refused and how, and that printing loses nothing.
#include "topologies/cluster.hpp"

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

}  // namespace amsp
