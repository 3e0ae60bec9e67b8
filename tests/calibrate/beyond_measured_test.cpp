// SPDX-License-Identifier: Apache-2.0
// What a calibration says where nothing was measured: laws that hold at any scale, and how it marks
// them (docs/model/20-collectives.md).
#include <rapidcheck/catch.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "base/file.hpp"
#include "calibrate/calibrate_files.hpp"
#include "calibrate/calibration.hpp"
#include "calibrate/cross_validation.hpp"
#include "calibrate/measured_extent.hpp"
#include "calibrate/rising_curve.hpp"

using namespace amsp;

namespace {

constexpr CollectiveKind kinds[] = {CollectiveKind::all_reduce,     CollectiveKind::all_gather,
                                    CollectiveKind::reduce_scatter, CollectiveKind::broadcast,
                                    CollectiveKind::all_to_all,     CollectiveKind::send_recv};

CollectiveCalibration shipped() {
  return *load_calibration(resolve_data("calibration", "calibrate/data", "a800-4hdr")).collectives;
}

// Fits of the public logs whose names begin so, where they are at hand.
std::optional<CollectiveCalibration> corpus_fit(const std::vector<std::string>& prefixes) {
  const char* folder = std::getenv("AMSP_CORPUS");
  if (folder == nullptr) return std::nullopt;
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    for (const std::string& prefix : prefixes) {
      if (name.rfind(prefix, 0) == 0) files.push_back(entry.path().string());
    }
  }
  if (files.empty()) return std::nullopt;
  std::sort(files.begin(), files.end());
  const Measurements measurements = read_measurements(files, "");
  return fit_collectives(measurements.observations.rows, measurements.cluster);
}

bool scale_measured(const CollectiveCalibration& fit, CollectiveKind kind,
                    const GroupShape& shape) {
  if (fit.find(kind) == nullptr) return false;
  const auto standing = standing_of(*fit.find(kind), Bytes(1e6), shape, fit.hardware);
  return standing && standing->scale_measured;
}

// Where the scale was not measured: twice the bytes never take less time, and twice the GPUs take
// at least half as long for the same bytes.
void check_laws(const CollectiveCalibration& fit) {
  const int per_node = fit.hardware.gpus_per_node;
  int checked = 0;
  for (const CollectiveKind kind : kinds) {
    std::map<double, Seconds> at_half;
    for (int nodes = 1; nodes <= 2048; nodes *= 2) {
      const GroupShape shape{nodes * per_node, per_node, nodes, 0};
      std::map<double, Seconds> here;
      if (!scale_measured(fit, kind, shape)) {
        for (double log_bytes = 10.25; log_bytes <= 35; ++log_bytes) {
          const CurveValue value = fit.at(kind, Bytes(std::exp2(log_bytes)), shape);
          CAPTURE(name_of(kind), shape.ranks, log_bytes);
          CHECK(value.range != PredictionRange::measured);
          if (!here.empty()) CHECK(value.time >= here.rbegin()->second);
          if (at_half.count(log_bytes) > 0) CHECK(value.time >= at_half[log_bytes] * 0.5);
          here[log_bytes] = value.time;
          ++checked;
        }
      }
      at_half = std::move(here);
    }
  }
  CHECK(checked > 200);
}

// Between two measured sizes of a measured group the curve stays between its times there.
void check_between_sizes(const CollectiveCalibration& fit) {
  for (const KindFit& kind : fit.kinds) {
    std::map<GroupShape, std::set<double>> sizes;
    for (const Observation& row : kind.rows) sizes[row.shape].insert(row.bytes.value());
    for (const auto& [shape, of_shape] : sizes) {
      for (auto size = of_shape.begin(); std::next(size) != of_shape.end(); ++size) {
        const double next = *std::next(size);
        if (next / *size < 1.5) continue;  // one size, rounded to other numbers of ranks
        const Seconds below = fit.at(kind.kind, Bytes(*size), shape).time;
        const Seconds above = fit.at(kind.kind, Bytes(next), shape).time;
        for (const double part : {0.25, 0.5, 0.75}) {
          const Bytes bytes(*size * std::pow(next / *size, part));
          const Seconds time = fit.at(kind.kind, bytes, shape).time;
          CAPTURE(name_of(kind.kind), shape.ranks, bytes.value());
          CHECK(time >= std::min(below, above) * 0.999);
          CHECK(time <= std::max(below, above) * 1.001);
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("rising curve: never falls, itself where it rises, half way where it does not") {
  rc::prop("for curves of random steps", [] {
    const double streaming = *rc::gen::inRange(0, 3) / 2.0;
    const auto steps = *rc::gen::container<std::vector<int>>(47, rc::gen::inRange(-3, 5));
    const auto curve = [&](Bytes bytes) {  // log2 of time by octaves of size
      const double at = std::log2(bytes.value());
      const auto octave = static_cast<std::size_t>(at);
      double level = 0;
      for (std::size_t i = 0; i < octave; ++i) level += steps[i];
      const double log_time = level + (at - static_cast<double>(octave)) * steps[octave];
      return CurvePoint{Seconds(std::exp2(log_time)), streaming};
    };
    const double start = *rc::gen::inRange(0, 4000) / 100.0;
    const Bytes bytes(std::exp2(start));
    const RisingCurve risen(curve);
    const RisingTime time = risen.raised(bytes, curve(bytes).time),
                     twice = risen.raised(bytes * 2, curve(bytes * 2).time);
    const double least = 0.1 * std::pow(streaming, 3);  // where the size streams
    RC_ASSERT(std::log(twice.time / time.time) > least - 1e-9);
    RC_ASSERT(time.log_shift >= 0);
    RC_ASSERT(std::abs(std::abs(std::log(time.time / curve(bytes).time)) - time.log_shift) < 1e-9);
    const bool rises = std::all_of(steps.begin(), steps.end(), [](int step) { return step >= 1; });
    if (rises) RC_ASSERT(time.log_shift < 1e-9);
  });
  // A fall from 8 to 2 between sizes 4 and 8: at both the middle, 4.
  const auto fall = [](Bytes bytes) {
    const double at = bytes.value();
    return CurvePoint{Seconds(at <= 4 ? 2 * at : at <= 8 ? 8 - 1.5 * (at - 4) : at / 4), 0};
  };
  CHECK(RisingCurve(fall).raised(Bytes(4), fall(Bytes(4)).time).time.value() == Approx(4));
  CHECK(RisingCurve(fall).raised(Bytes(8), fall(Bytes(8)).time).time.value() == Approx(4));
  CHECK(RisingCurve(fall).raised(Bytes(1), fall(Bytes(1)).time).time.value() == Approx(2));
  CHECK(RisingCurve(fall).raised(Bytes(64), fall(Bytes(64)).time).time.value() == Approx(16));
}

TEST_CASE("beyond the measured scales: laws of the shipped fit") { check_laws(shipped()); }

TEST_CASE("two runs that contradict each other widen an interval to both, not to absurdity") {
  // The two runs of the A800's small reduce_scatters differ by a factor of four.
  const CollectiveCalibration fit = shipped();
  for (int ranks = 8; ranks <= 4096; ranks *= 2) {
    for (const double bytes : {8.0, 1024.0, 65536.0, 524288.0, 4194304.0}) {
      const CurveValue value = fit.at(CollectiveKind::reduce_scatter, Bytes(bytes),
                                      {ranks, 8, ranks / 8, ranks > 8 ? 4 : 0});
      CAPTURE(ranks, bytes);
      CHECK(value.factor90() < 8);
      if (ranks == 64) CHECK(value.factor90() > 1.5);
    }
  }
}

TEST_CASE("beyond the measured scales: laws of fits to public series") {
  const auto alps = corpus_fit({"001-", "002-", "003-", "004-", "006-", "007-", "009-"});
  if (!alps) return;
  check_laws(*alps);
  check_between_sizes(*alps);
  const auto polaris = corpus_fit({"011-", "012-", "014-", "015-", "016-", "017-", "018-", "019-"});
  check_laws(*polaris);
  check_between_sizes(*polaris);
  // Its all_gather: 8, 32 and 512 ranks.
  const CurveValue between =
      polaris->at(CollectiveKind::all_gather, Bytes(268435456.0), {128, 4, 32, 0});
  CHECK(between.range == PredictionRange::extrapolated);
  CHECK(between.note == "between 32 and 512 ranks, nothing measured");
  const CurveValue nearby =
      polaris->at(CollectiveKind::all_gather, Bytes(268435456.0), {16, 4, 4, 0});
  CHECK(nearby.range == PredictionRange::measured);
  CHECK(between.factor90() > nearby.factor90());
}

TEST_CASE("A kind that was not measured: nine of ten times inside its interval") {
  const auto folder = data_folder("calibrate/data");
  Measurements measurements =
      read_measurements({(folder / "a800_collectives.csv").string()}, "a800-4hdr");
  const auto held_out =
      cross_validate(measurements.observations.rows, measurements.cluster, {LeftOut::kind});
  std::vector<HeldOutRow> large;
  for (const HeldOutRow& row : held_out) {
    if (row.row.bytes >= large_size) large.push_back(row);
  }
  const ErrorSummary summary = summarise(large);
  CAPTURE(summary.median, summary.p95);
  CHECK(summary.rows > 100);
  CHECK(summary.median < 0.2);
  CHECK(summary.covered >= 0.85);
  for (const HeldOutRow& row : large) CHECK(row.left_out == LeftOut::kind);
}
