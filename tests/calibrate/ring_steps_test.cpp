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
  // … and nowhere, however long the gap, where small steps are not stretched.
  Machine slow;
  slow.truth[Parameter::gap_simple] = 44e-6;
  const double next = std::pow(2, 0.05);
  for (const Machine& machine : {Machine(), slow}) {
    for (double parts = 1.0 / 64; parts < 64; parts *= next) {
      CAPTURE(parts);
      CHECK(machine.step(Protocol::simple, mebibyte * parts) <=
            machine.step(Protocol::simple, mebibyte * parts * next));
    }
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

namespace {

// What the machine would take for an all-gather, on three scales.
CollectiveCalibration fitted(const Machine& machine) {
  std::vector<Observation> rows;
  for (const int ranks : {16, 32, 64}) {
    for (double bytes = 1 << 20; bytes < 5e9; bytes *= 2) {
      Observation row;
      row.kind = CollectiveKind::all_gather;
      row.shape = {ranks, 4, ranks / 4, 4};
      row.bytes = Bytes(bytes);
      row.time =
          physics_time(row.kind, row.bytes, row.shape, machine.hardware, machine.truth).total();
      row.source = "planted";
      rows.push_back(row);
    }
  }
  return fit_collectives(rows, machine.cluster, {.correct = false});
}

}  // namespace

// The second has a gap and a stretch that no start of the fit has, the third no stall at all.
TEST_CASE("a fit finds a planted stall of small steps, or none, and carries it to other scales") {
  struct Planted {
    double gap, small_step, small_stretch;
  };
  for (const Planted& planted : {Planted{44e-6, 370 * 1024, 2.3}, Planted{90e-6, 280 * 1024, 1.4},
                                 Planted{30e-6, 65536, 1}}) {
    Machine machine;
    machine.hardware.ll128_across = false;
    machine.truth[Parameter::gap_simple] = planted.gap;
    machine.truth[Parameter::small_step] = planted.small_step;
    machine.truth[Parameter::small_stretch] = planted.small_stretch;
    const CollectiveCalibration fit = fitted(machine);
    const GroupShape shape{256, 4, 64, 4};
    int checked = 0;
    for (const double parts : {0.25, 0.5, 1.0, 2.0, 4.0, 8.0}) {  // MiB a rank
      const auto kind = CollectiveKind::all_gather;
      const Bytes bytes = mebibyte * parts * 256;
      const PhysicsTime right = physics_time(kind, bytes, shape, machine.hardware, machine.truth);
      if (right.choice_deviation > 0.05) continue;  // beside a switch
      ++checked;
      CAPTURE(planted.gap, parts);
      // The physics; what is printed where nobody measured is made never to fall.
      const PhysicsTime found =
          physics_time(kind, bytes, shape, fit.hardware, fit.find(kind)->parameters);
      CHECK(found.total().value() == Approx(right.total().value()).epsilon(0.1));
    }
    CHECK(checked >= 4);
  }
}
