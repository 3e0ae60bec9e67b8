// SPDX-License-Identifier: Apache-2.0
#include "sim/perturbation_spec.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "toy.hpp"

using namespace amsp;

TEST_CASE("Perturbations are read by name") {
  const Network network = toy::network(toy::cluster(4, 4, 2));
  const JsonValue json = JsonValue::parse_text(
      R"({"slow_gpus": [{"gpu": 5, "speed": 0.8}],
          "degraded": [{"name": "node2/nic1", "factor": 0.5}], "kernel_jitter": 0.03})",
      "test");
  const PerturbationSpec spec = parse_perturbations(json);
  const PerturbedNetwork perturbed = apply(spec, network, 16);
  CHECK(perturbed.perturbations.slow_gpus[0].gpu == GpuId(5));
  CHECK(perturbed.perturbations.links.size() == 2);  // both directions
  CHECK(perturbed.perturbations.kernel_jitter == 0.03);
  CHECK(&perturbed.network() == &network);
}

TEST_CASE("A failed NIC is taken out of the network") {
  const Network network = toy::network(toy::cluster(4, 4, 2));
  PerturbationSpec spec;
  spec.failed.emplace_back("node1/nic0");
  const PerturbedNetwork perturbed = apply(spec, network, 16);
  CHECK(perturbed.perturbations.links.empty());
  REQUIRE(perturbed.without_failed);
  const std::vector<int> slots{0, 1, 2, 3};
  CHECK(perturbed.network().nics_of(NodeId(1), slots).size() == 1);
  CHECK(perturbed.network().nics_of(NodeId(0), slots).size() == 2);
}

TEST_CASE("Wrong perturbations are refused with what would be right") {
  const Network network = toy::network(toy::cluster(4, 4, 2));
  PerturbationSpec spec;
  spec.degraded.push_back({"node1/nic7", 0.5});
  CHECK_THROWS_WITH(apply(spec, network, 16),
                    Catch::Contains("node1/nic7") && Catch::Contains("did you mean"));
  CHECK_THROWS_WITH(parse_slow_gpu("5", "--slow-gpu"), Catch::Contains("5=0.8"));
  CHECK_THROWS_WITH(parse_slow_gpu("x=0.8", "--slow-gpu"), Catch::Contains("\"x\""));
  for (const char* text : {"5=0", "5=2", "5=inf", "5=nan", "5=-1", "5=1e-300"})
    CHECK_THROWS_WITH(parse_slow_gpu(text, "--slow-gpu"), Catch::Contains("0.000001 and 1"));
  for (const char* text : {"node1/nic0=0", "node1/nic0=2", "node1/nic0=inf", "node1/nic0=nan"})
    CHECK_THROWS_WITH(parse_degraded(text, "--degrade"),
                      Catch::Contains("0.000001 and 1") && Catch::Contains("--fail"));
  CHECK(parse_degraded("node1/nic0=1", "--degrade").factor == 1);
  for (const char* text : {R"({"degraded": [{"name": "node1/nic0", "factor": 0}]})",
                           R"({"degraded": [{"name": "node1/nic0", "factor": 2}]})",
                           R"({"slow_gpus": [{"gpu": 1, "speed": 1.5}]})"})
    CHECK_THROWS_WITH(parse_perturbations(JsonValue::parse_text(text, "test")),
                      Catch::Contains("must be between"));
  CHECK_THROWS_AS(parse_perturbations(JsonValue::parse_text(R"({"slow_gpu": []})", "test")),
                  InputError);
}

TEST_CASE("Placements give each rank a GPU of its own") {
  const ClusterSpec cluster = toy::cluster(4, 4, 2);
  for (const char* how : {"packed", "rail", "random"}) {
    const std::vector<GpuId> gpus = make_placement(how, 12, cluster, 3);
    CHECK(gpus.size() == 12);
    CHECK(std::set<GpuId>(gpus.begin(), gpus.end()).size() == 12);
  }
  CHECK(make_placement("rail", 12, cluster, 1)[4] == GpuId(5));  // node 4 mod 3 = 1, slot 4 / 3 = 1
  CHECK(make_placement("random", 12, cluster, 1) == make_placement("random", 12, cluster, 1));
  CHECK(make_placement("random", 12, cluster, 1) != make_placement("random", 12, cluster, 2));
  CHECK_THROWS_WITH(make_placement("packed", 17, cluster, 1), Catch::Contains("17 ranks"));
}
