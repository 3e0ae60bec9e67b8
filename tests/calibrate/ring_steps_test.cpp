// SPDX-License-Identifier: Apache-2.0
// The steps of rings between nodes as Slingshot's logs show them: fewer and smaller messages below
// `small_step`, LL's ceiling up to `ll_step`; and that a fit finds them.
#include <catch2/catch.hpp>
#include <cmath>

#include "calibrate/collective_calibration.hpp"
#include "calibrate/nccl_algorithm.hpp"

using namespace amsp;

namespace {

const GroupShape sixteen{16, 4, 4, 4};

struct Machine {
  ClusterSpec cluster = load_cluster("a800-4hdr");
  Hardware hardware = hardware_of(cluster);
  PhysicsParameters truth = default_parameters(cluster);

  // One step of a ring in which each rank has `part` bytes to send.
  [[nodiscard]] Seconds step(Protocol protocol, Bytes part) const {
    const Candidate ring{find_nccl_algorithm("ring"), protocol};
    const Bytes bytes = part * 16;
    const auto kind = CollectiveKind::all_reduce;
    return candidate_time(ring, kind, bytes, sixteen, hardware, truth).total() / 30;
  }
};

constexpr Bytes mebibyte = Bytes(1048576.0), kibibyte = Bytes(1024.0);

}  // namespace

TEST_CASE(
    "a Simple ring's small steps: in proportion, and longer than larger ones by the stretch") {
  Machine alps;
  alps.truth[Parameter::gap_simple] = 44e-6;
  alps.truth[Parameter::small_step] = 370 * 1024;  // over each of four NICs: 1.45 MiB a rank
  alps.truth[Parameter::small_stretch] = 2.3;
  // As measured on 16 and 32 GPUs of Alps (public nccl-tests logs): 36, 72, 44, 47 us.
  const auto step = [&](double parts) { return alps.step(Protocol::simple, mebibyte * parts); };
  CHECK(step(0.5).value() == Approx(36e-6).epsilon(0.1));
  CHECK(step(1).value() == Approx(72e-6).epsilon(0.1));
  CHECK(step(2).value() == Approx(44e-6).epsilon(0.1));
  CHECK(step(4).value() == Approx(47e-6).epsilon(0.1));
  // Without a measurement a smaller step never takes longer.
  const Machine plain;
  const double next = std::pow(2, 0.05);
  for (double parts = 1.0 / 64; parts < 64; parts *= next) {
    CAPTURE(parts);
    CHECK(plain.step(Protocol::simple, mebibyte * parts) <=
          plain.step(Protocol::simple, mebibyte * parts * next));
  }
}

TEST_CASE("LL's ceiling holds a step only up to ll_step") {
  Machine polaris;
  polaris.truth[Parameter::ceiling_ll] = 0.55e9;
  polaris.truth[Parameter::ll_step] = 4.25 * 1024;  // over each of four NICs
  const auto step = [&](double parts) { return polaris.step(Protocol::ll, kibibyte * parts); };
  // Polaris' all-gather takes 15, 29, 31 and 31 us a step.
  CHECK(step(8).value() == Approx(15e-6).epsilon(0.2));
  CHECK(step(16).value() == Approx(29e-6).epsilon(0.2));
  CHECK(step(32).value() == Approx(31e-6).epsilon(0.2));
  CHECK(step(64).value() == Approx(step(32).value()).epsilon(0.05));
}

TEST_CASE("a fit finds a planted stall of small steps and carries it to other scales") {
  Machine alps;
  alps.truth[Parameter::gap_simple] = 44e-6;
  alps.truth[Parameter::small_step] = 370 * 1024;
  alps.truth[Parameter::small_stretch] = 2.3;
  std::vector<Observation> rows;
  for (const int ranks : {16, 32, 64}) {
    for (double bytes = 1 << 20; bytes < 5e9; bytes *= 2) {
      Observation row;
      row.kind = CollectiveKind::all_gather;
      row.shape = {ranks, 4, ranks / 4, 4};
      row.bytes = Bytes(bytes);
      row.time = physics_time(row.kind, row.bytes, row.shape, alps.hardware, alps.truth).total();
      row.source = "planted";
      rows.push_back(row);
    }
  }
  const CollectiveCalibration fit = fit_collectives(rows, alps.cluster, {.correct = false});
  const GroupShape shape{256, 4, 64, 4};
  for (const double parts : {1.0, 2.0, 4.0}) {  // MiB a rank
    const Bytes bytes = mebibyte * parts * 256;
    const Seconds right =
        physics_time(CollectiveKind::all_gather, bytes, shape, alps.hardware, alps.truth).total();
    CAPTURE(parts);
    CHECK(fit.at(CollectiveKind::all_gather, bytes, shape).time.value() ==
          Approx(right.value()).epsilon(0.1));
  }
}
