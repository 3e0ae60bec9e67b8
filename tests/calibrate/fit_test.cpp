// SPDX-License-Identifier: Apache-2.0
// The fit recovers what was planted; the corrected curve follows measurements and fades away from
// them; a fit of one node never speaks of a network.
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "calibrate/collective_calibration.hpp"
#include "calibrate/kriging.hpp"
#include "calibrate/least_squares.hpp"

using namespace amsp;

namespace {

PhysicsParameters planted(const ClusterSpec& cluster) {
  PhysicsParameters p = default_parameters(cluster);
  p[Parameter::rate_inside] = 140e9;
  p[Parameter::rate_nic] = 22e9;
  p[Parameter::across_simple] = 9e-6;
  p[Parameter::base_simple] = 20e-6;
  return p;
}

// Times of a machine that follows the physics, with log-normal noise and a few wild outliers.
std::vector<Observation> synthetic(const ClusterSpec& cluster, const PhysicsParameters& truth,
                                   const std::vector<int>& scales, double noise) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal(0, noise);
  const Hardware hardware = hardware_of(cluster);
  std::vector<Observation> rows;
  for (const CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::all_reduce}) {
    for (const int ranks : scales) {
      for (double bytes = 65536; bytes < 5e9; bytes *= 4) {
        Observation row;
        row.kind = kind;
        row.shape = {ranks, std::min(ranks, 8), std::max(1, ranks / 8), 0};
        row.bytes = Bytes(bytes);
        const Seconds time = physics_time(kind, row.bytes, row.shape, hardware, truth).total();
        const double wild = rows.size() % 37 == 5 ? 2.0 : 1.0;
        row.time = time * std::exp(normal(random)) * wild;
        row.source = "synthetic";
        rows.push_back(row);
      }
    }
  }
  return rows;
}

}  // namespace

TEST_CASE("robust least squares: a line with outliers, a prior where the data are silent") {
  LeastSquaresProblem problem;
  problem.prior = {0.0, 0.0, 5.0};
  problem.width = {10.0, 10.0, 0.5};
  problem.rows = 40;
  problem.residuals = [](std::span<const double> p, std::span<double> r) {
    for (std::size_t i = 0; i < r.size(); ++i) {
      const double x = 0.1 * static_cast<double>(i);
      const double wobble = (i % 2 == 0 ? 0.01 : -0.01) + (i % 13 == 3 ? 4.0 : 0.0);
      r[i] = 2.0 + 3.0 * x + wobble - (p[0] + p[1] * x);
    }
  };
  const LeastSquaresSolution solution = solve(problem);
  CHECK(solution.parameters[0] == Approx(2.0).margin(0.02));
  CHECK(solution.parameters[1] == Approx(3.0).margin(0.02));
  CHECK(solution.parameters[2] == Approx(5.0));  // untouched, with the prior's own width
  CHECK(solution.standard_error[2] == Approx(0.5).epsilon(0.01));
  CHECK(solution.weights[3] < 0.2);
  CHECK(solution.weights[4] > 0.5);
}

TEST_CASE("kriging follows the points and fades to zero with full uncertainty") {
  std::vector<Kriging::Point> points;
  for (int i = 0; i <= 10; ++i) points.push_back({{{static_cast<double>(i)}}, std::sin(i * 0.5)});
  const Kriging kriging(points, {{2.0}, 1.0, 0.01});
  CHECK(kriging.at({{4.5}, 0}).mean == Approx(std::sin(2.25)).margin(0.03));
  CHECK(kriging.at({{60.0}, 0}).mean == Approx(0).margin(1e-6));
  CHECK(kriging.at({{60.0}, 0}).deviation == Approx(1).margin(1e-6));
  CHECK(kriging.at({{4.0}, 1}).mean == 0);  // another domain
  // Leave-one-out in closed form against leaving the point out.
  std::vector<Kriging::Point> without = points;
  without.erase(without.begin() + 4);
  const double predicted = Kriging(without, {{2.0}, 1.0, 0.01}).at(points[4].place).mean;
  CHECK(kriging.leave_one_out()[4] == Approx(points[4].value - predicted).margin(1e-6));
  // Two points left out together.
  without.erase(without.begin() + 4);
  std::vector<int> groups(points.size(), 0);
  for (std::size_t i = 0; i < groups.size(); ++i) groups[i] = static_cast<int>(i);
  groups[5] = groups[4];
  const Kriging rest(without, {{2.0}, 1.0, 0.01});
  const auto left_out = kriging.leave_groups_out(groups);
  for (const std::size_t i : {std::size_t{4}, std::size_t{5}}) {
    const Kriging::Value value = rest.at(points[i].place);
    CHECK(left_out[i].mean == Approx(points[i].value - value.mean).margin(1e-6));
    CHECK(left_out[i].deviation == Approx(value.deviation).margin(1e-6));
  }
}

TEST_CASE("kriging: places of another mixture inform less, of a quite different one not at all") {
  const auto mixed = [](double share) {
    return std::vector<double>{std::sqrt(share), std::sqrt(1 - share)};
  };
  std::vector<Kriging::Point> points;
  for (int i = 0; i <= 10; ++i) points.push_back({{{0.1 * i}, 0, mixed(1)}, 0.5});
  const Kriging kriging(points, {{2.0}, 1.0, 0.01});
  const double same = kriging.at({{0.5}, 0, mixed(1)}).mean;
  const double half = kriging.at({{0.5}, 0, mixed(0.5)}).mean;
  CHECK(same == Approx(0.5).margin(0.01));
  CHECK(half == Approx(same * std::sqrt(0.5)).epsilon(1e-6));
  const Kriging::Value other = kriging.at({{0.5}, 0, mixed(0)});
  CHECK(other.mean == Approx(0).margin(1e-9));
  CHECK(other.deviation == Approx(1).margin(1e-9));
}

TEST_CASE("the fit recovers planted rates and predicts scales that it has not seen") {
  const ClusterSpec cluster = load_cluster("a800-4hdr");
  const PhysicsParameters truth = planted(cluster);
  const CollectiveCalibration fit =
      fit_collectives(synthetic(cluster, truth, {2, 4, 8, 16, 32, 64}, 0.02), cluster);
  for (const Parameter p : {Parameter::rate_inside, Parameter::rate_nic}) {
    CAPTURE(name_of(p));
    CHECK(fit.system.parameters[p] == Approx(truth[p]).epsilon(0.02));
  }
  CHECK(fit.system.parameters[Parameter::base_simple] ==
        Approx(truth[Parameter::base_simple]).epsilon(0.15));
  // Scales up to 64 hardly tell a Simple step's time across nodes, which the streaming hides: it is
  // found roughly, and the fit says so.
  CHECK(fit.system.parameters[Parameter::across_simple] ==
        Approx(truth[Parameter::across_simple]).epsilon(0.4));
  const auto across = static_cast<std::size_t>(Parameter::across_simple);
  CHECK(std::sqrt(fit.system.covariance[across][across]) > 0.3);
  // Twice and four times the largest scale. Step times of single protocols are not told apart well
  // by scales up to 64, so sizes at which they dominate are not judged here.
  for (const int ranks : {128, 256}) {
    const GroupShape shape{ranks, 8, ranks / 8, 0};
    for (const double bytes : {256e6, 1e9, 4e9}) {
      const CurveValue value = fit.at(CollectiveKind::all_gather, Bytes(bytes), shape);
      const Seconds right =
          physics_time(CollectiveKind::all_gather, Bytes(bytes), shape, fit.hardware, truth)
              .total();
      CAPTURE(ranks, bytes);
      CHECK(value.time.value() == Approx(right.value()).epsilon(0.12));
      CHECK(value.range == PredictionRange::extrapolated);
    }
  }
}

TEST_CASE("a planted gap between Simple messages is found and carries over to larger scales") {
  const ClusterSpec cluster = load_cluster("a800-4hdr");
  PhysicsParameters truth = planted(cluster);
  truth[Parameter::gap_simple] = 44e-6;  // as rings on Slingshot show
  const CollectiveCalibration fit =
      fit_collectives(synthetic(cluster, truth, {16, 32, 64}, 0.02), cluster);
  CHECK(fit.system.parameters[Parameter::gap_simple] == Approx(44e-6).epsilon(0.1));
  // 2 MiB a rank in 255 messages one after the other: half of what the NICs could carry.
  const GroupShape shape{256, 8, 32, 0};
  const CurveValue value = fit.at(CollectiveKind::all_gather, Bytes(536870912.0), shape);
  CHECK(value.time.value() == Approx(255 * 44e-6).epsilon(0.12));
  // Where none was planted, none is found.
  const CollectiveCalibration without =
      fit_collectives(synthetic(cluster, planted(cluster), {16, 32, 64}, 0.02), cluster);
  CHECK(without.system.parameters[Parameter::gap_simple] < 8e-6);
}

TEST_CASE("outliers are named by their trust") {
  const ClusterSpec cluster = load_cluster("a800-4hdr");
  const CollectiveCalibration fit =
      fit_collectives(synthetic(cluster, planted(cluster), {8, 16, 64}, 0.01), cluster);
  const KindFit& gather = *fit.find(CollectiveKind::all_gather);
  int distrusted = 0;
  for (const double trust : gather.trust) distrusted += trust < 0.25 ? 1 : 0;
  CHECK(distrusted >= 1);
  CHECK(distrusted <= 3);
}

// A machine that takes up to 1.6 times as long as any physics says around 128 MiB.
TEST_CASE("a stretch of sizes that the physics miss is believed and followed, an outlier is not") {
  const ClusterSpec cluster = load_cluster("a800-4hdr");
  const Hardware hardware = hardware_of(cluster);
  std::vector<Observation> rows;
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal(0, 0.01);
  for (const int ranks : {16, 32, 64}) {
    for (double bytes = 1 << 20; bytes < 5e9; bytes *= 2) {
      Observation row;
      row.shape = {ranks, 8, ranks / 8, 0};
      row.bytes = Bytes(bytes);
      const double slow = 0.5 * std::exp(-0.25 * std::pow(std::log2(bytes) - 27, 2));
      row.time = physics_time(row.kind, row.bytes, row.shape, hardware, planted(cluster)).total() *
                 std::exp(slow + normal(random));
      row.source = std::to_string(ranks);
      rows.push_back(row);
    }
  }
  Observation& wild = rows[11 + 13];  // 32 ranks, 2 GiB
  wild.time = wild.time * 3.0;
  const Bytes wild_bytes = wild.bytes;
  const CollectiveCalibration fit = fit_collectives(rows, cluster);
  const KindFit& reduce = *fit.find(CollectiveKind::all_reduce);
  int rough = 0;
  for (std::size_t i = 0; i < reduce.rows.size(); ++i) {
    const Observation& row = reduce.rows[i];
    CAPTURE(row.shape.ranks, row.bytes.value(), reduce.trust[i]);
    if (row.bytes == wild_bytes && row.shape.ranks == 32) {
      CHECK(reduce.trust[i] < 0.25);
    } else if (row.bytes > Bytes(6e7) && row.bytes < Bytes(3e8)) {
      CHECK(reduce.trust[i] > 0.5);
      const Seconds time = fit.at(row.kind, row.bytes, row.shape).time;
      const double error = std::abs(time / row.time - 1);
      CHECK(error < 0.10);
      rough += error > 0.05 ? 1 : 0;
    }
  }
  // A switch of protocol, which the physics may set where it likes, explains a part of the stretch
  // (one of the nine is 8 % off), and what it leaves is rough there.
  CHECK(rough <= 1);
}

TEST_CASE("ranges: measured, extrapolated, derived and default") {
  const ClusterSpec cluster = load_cluster("a800-4hdr");
  const auto rows = synthetic(cluster, planted(cluster), {2, 4, 8}, 0.01);
  const CollectiveCalibration fit = fit_collectives(rows, cluster);
  const auto range = [&](CollectiveKind kind, int ranks, double bytes) {
    return fit.at(kind, Bytes(bytes), {ranks, std::min(8, ranks), std::max(1, ranks / 8), 0}).range;
  };
  CHECK(range(CollectiveKind::all_gather, 4, 1e8) == PredictionRange::measured);
  CHECK(range(CollectiveKind::all_gather, 8, 1e12) == PredictionRange::extrapolated);
  CHECK(range(CollectiveKind::broadcast, 8, 1e8) == PredictionRange::extrapolated);
  CHECK(range(CollectiveKind::all_gather, 16, 1e8) == PredictionRange::default_model);
  CHECK(range(CollectiveKind::broadcast, 16, 1e8) == PredictionRange::default_model);
  // What the single node could not say is NCCL's constant, untouched.
  const PhysicsParameters defaults = default_parameters(cluster);
  CHECK(fit.system.parameters[Parameter::rate_nic] ==
        Approx(defaults[Parameter::rate_nic]).epsilon(1e-6));
}

TEST_CASE("one or two scales say less of larger ones than three") {
  const ClusterSpec cluster = load_cluster("a800-4hdr");
  const auto deviation = [&](const std::vector<int>& scales) {
    const auto fit = fit_collectives(synthetic(cluster, planted(cluster), scales, 0.01), cluster);
    const GroupShape twice{2 * scales.back(), 8, scales.back() / 4, 0};
    return fit.at(CollectiveKind::all_gather, Bytes(1e9), twice).log_deviation;
  };
  CHECK(deviation({64}) > 0.13);
  CHECK(deviation({32, 64}) > 0.13);
  CHECK(deviation({16, 32, 64}) < 0.1);
}

TEST_CASE("intervals grow with the distance of extrapolation") {
  const ClusterSpec cluster = load_cluster("a800-4hdr");
  const CollectiveCalibration fit =
      fit_collectives(synthetic(cluster, planted(cluster), {16, 32, 64}, 0.03), cluster);
  double before = 0;
  for (const int ranks : {64, 128, 256, 1024}) {
    const double deviation =
        fit.at(CollectiveKind::all_gather, Bytes(1e9), {ranks, 8, ranks / 8, 0}).log_deviation;
    CHECK(deviation > before);
    before = deviation;
  }
}
