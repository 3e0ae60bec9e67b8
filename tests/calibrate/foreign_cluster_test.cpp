// SPDX-License-Identifier: Apache-2.0
// A calibration on another cluster; meshes; what a calibration file may hold.
#include "calibrate/foreign_cluster.hpp"

#include <catch2/catch.hpp>
#include <chrono>

#include "base/file.hpp"
#include "calibrate/calibration.hpp"
#include "calibrate/fit_report.hpp"
#include "calibrate/mesh_rings.hpp"
#include "calibrate/physics.hpp"
#include "topologies/network.hpp"

using namespace amsp;

TEST_CASE("on another cluster every rate of the network moves with the data sheets") {
  const ClusterSpec own = load_cluster("a800-4hdr");
  ClusterSpec other = own;  // half the NICs, each twice as fast and a half
  other.node.nics.resize(2);
  for (NicSpec& nic : other.node.nics) nic.rate = nic.rate * 2.5;
  const Calibration calibration =
      load_calibration(data_folder("calibrate/data") / "a800-4hdr.json");
  const CollectiveCalibration& before = *calibration.collectives;
  const ForeignCalibration moved = moved_to(other, before, own);
  const auto factor = [&](Parameter p) {
    return moved.calibration.system.parameters[p] / before.system.parameters[p];
  };
  CHECK(factor(Parameter::rate_nic) == Approx(2.5));
  CHECK(factor(Parameter::rate_collnet) == Approx(2.5));
  CHECK(factor(Parameter::ceiling_ll128) == Approx(2.5 * 2 / 4));  // of all NICs of a node
  CHECK(factor(Parameter::rate_inside) == Approx(1));
  CHECK(factor(Parameter::across_ll) == Approx(1));
}

TEST_CASE("a group with a slower GPU goes at its pace; the others' ports keep theirs") {
  ClusterSpec cluster = load_cluster("dgx-a100");
  const Hardware sound = hardware_of(cluster);
  const double rate = default_parameters(cluster)[Parameter::rate_inside];
  cluster.node.intra.slower_gpus[3] = cluster.node.intra.gpu_rate * 0.5;
  CHECK(hardware_of(cluster).gpu_rate == sound.gpu_rate * 0.5);
  CHECK(default_parameters(cluster)[Parameter::rate_inside] == Approx(rate * 0.5));
  // What a calibration measured on all GPUs is the slower one's pace.
  const Network network(cluster, {Bandwidth(100e9), Bandwidth(20e9)});
  const auto capacity = [&](int gpu) {
    std::vector<LinkId> route;
    network.route_inside(GpuId(gpu), GpuId(0), route);
    return network.links()[route.front().position()].capacity.value();
  };
  CHECK(capacity(3) == Approx(100e9));
  CHECK(capacity(4) == Approx(200e9));
  cluster.node.intra.slower_gpus[3] = Bandwidth(0);
  CHECK(hardware_of(cluster).gpu_rate == cluster.node.pcie_rate);
  // NVLS needs every GPU on the switch.
  ClusterSpec hopper = load_cluster("dgx-h100");
  CHECK(hardware_of(hopper).nvls);
  hopper.node.intra.slower_gpus[3] = Bandwidth(0);
  CHECK_FALSE(hardware_of(hopper).nvls);
}

TEST_CASE("the report leaves out what the rows say nothing of") {
  const Calibration calibration =
      load_calibration(data_folder("calibrate/data") / "a800-4hdr.json");
  const std::string report = fit_report(calibration, false);
  CHECK(report.find("rate_nic ") != std::string::npos);
  // Held: no log of this cluster has CollNet. Its deviation is 0, which is not certainty.
  CHECK(report.find("rate_collnet") == std::string::npos);
  CHECK(report.find("latency_collnet") == std::string::npos);
}

TEST_CASE("a row of a covariance with more values than it needs is refused") {
  const std::string file = (data_folder("calibrate/data") / "a800-4hdr.json").string();
  std::string text = read_file(file);
  const auto at = text.find('"', text.find('[', text.find("\"covariance\"")));
  const auto end = text.find('"', at + 1);
  CHECK_NOTHROW(parse_calibration(JsonValue::parse_text(text, "whole")));
  text.insert(end, " 0.5");
  CHECK_THROWS_AS(parse_calibration(JsonValue::parse_text(text, "surplus")), InputError);
}

TEST_CASE("a mesh without a ring is given up in time") {
  // Two parts of 9 and 8 GPUs, links only between them: no ring visits all 17, and there are 9! 8!
  // ways to try.
  ClusterSpec cluster = load_cluster("mi300x-8gpu");
  cluster.node.gpus = 17;
  cluster.node.intra.mesh_links.clear();
  for (int a = 0; a < 9; ++a)
    for (int b = 9; b < 17; ++b) cluster.node.intra.mesh_links[{a, b}] = 1;
  std::vector<GpuId> gpus;
  for (int gpu = 0; gpu < 17; ++gpu) gpus.emplace_back(gpu);
  const auto start = std::chrono::steady_clock::now();
  CHECK(mesh_rings(gpus, cluster).empty());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  CHECK(took.count() < 20);
}
