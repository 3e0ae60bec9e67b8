// SPDX-License-Identifier: Apache-2.0
// What a cross-validation is judged by: straight lines between the neighbours of a left-out row,
// and how much two measurements of one point differ.
#include <catch2/catch.hpp>
#include <cmath>

#include "calibrate/measured_scatter.hpp"
#include "calibrate/nccl_algorithm.hpp"
#include "calibrate/straight_lines.hpp"
#include "calibrate/validation_report.hpp"

using namespace amsp;

namespace {

Observation row_of(int ranks, double bytes, double seconds, const std::string& source = "a",
                   const std::string& place = "line 1") {
  Observation row;
  row.shape = {ranks, std::min(ranks, 4), std::max(1, ranks / 4), 0};
  row.bytes = Bytes(bytes);
  row.time = Seconds(seconds);
  row.source = source;
  row.place = place;
  return row;
}

// Times that are a power of size and of ranks: straight lines are exact.
double power_law(int ranks, double bytes) { return 1e-9 * std::pow(bytes, 0.8) * std::sqrt(ranks); }

std::vector<Observation> grid(const std::string& source) {
  std::vector<Observation> rows;
  for (const int ranks : {4, 8, 32, 64}) {
    for (const double bytes : {1e6, 3e6, 2e7, 1e8, 3e8}) {
      rows.push_back(row_of(ranks, bytes, power_law(ranks, bytes), source));
    }
  }
  return rows;
}

}  // namespace

TEST_CASE("straight lines: exact for a power law, blind to the row itself, none at an edge") {
  std::vector<Observation> rows = grid("a");
  for (Observation& row : rows) {
    const double right = row.time.value();
    row.time = Seconds(100 * right);  // the line must not see it
    const bool inner_size = row.bytes > Bytes(1e6) && row.bytes < Bytes(3e8);
    const auto by_size = line_between_sizes(rows, row);
    REQUIRE(by_size.has_value() == inner_size);
    if (by_size) CHECK(by_size->value() == Approx(right).epsilon(1e-9));
    row.time = Seconds(right);
  }
  // 4 ranks are one node and no neighbour of those across nodes; 8 and 64 are the edges.
  for (const Observation& row : rows) {
    Observation other = row;
    other.time = Seconds(1);
    const auto by_scale = line_between_scales(rows, other);
    REQUIRE(by_scale.has_value() == (row.shape.ranks == 32));
    if (by_scale) CHECK(by_scale->value() == Approx(row.time.value()).epsilon(1e-9));
  }
}

TEST_CASE("straight lines: runs, shapes and forced choices do not mix") {
  std::vector<Observation> rows{row_of(8, 1e6, 1e-3, "a"), row_of(8, 4e6, 4e-3, "b")};
  CHECK_FALSE(line_between_sizes(rows, row_of(8, 2e6, 1, "a")));  // b is another run
  rows[1].source = "a";
  CHECK(line_between_sizes(rows, row_of(8, 2e6, 1, "a"))->value() == Approx(2e-3));
  CHECK_FALSE(line_between_sizes(rows, row_of(16, 2e6, 1, "a")));
  rows[1].forced_algorithm = find_nccl_algorithm("ring");
  CHECK_FALSE(line_between_sizes(rows, row_of(8, 2e6, 1, "a")));
  rows = {row_of(8, 1e6, 1e-3), row_of(32, 1e6, 4e-3)};
  CHECK(line_between_scales(rows, row_of(16, 1e6, 1))->value() == Approx(2e-3));
  rows[1].shape.nics_per_node = 1;
  CHECK_FALSE(line_between_scales(rows, row_of(16, 1e6, 1)));
}

TEST_CASE("measured line: the mean of repeated times; the nearest size beyond the measured ones") {
  const std::vector<Observation> rows{row_of(8, 1e6, 1e-3), row_of(8, 1e6, 4e-3),
                                      row_of(8, 1.6e7, 3.2e-2), row_of(16, 1e6, 9.0)};
  const GroupShape shape = rows[0].shape;
  CHECK(measured_line(rows, shape, Bytes(1e6))->time.value() == Approx(2e-3));
  CHECK(measured_line(rows, shape, Bytes(4e6))->time.value() == Approx(8e-3));
  CHECK(measured_line(rows, shape, Bytes(4e6))->bytes.value() == Approx(4e6));
  CHECK(measured_line(rows, shape, Bytes(1e9))->bytes.value() == Approx(1.6e7));
  CHECK(measured_line(rows, shape, Bytes(1e9))->time.value() == Approx(3.2e-2));
  CHECK_FALSE(measured_line(rows, {64, 4, 16, 0}, Bytes(1e6)));
}

TEST_CASE("scatter: pairs of runs, and the two times of one row apart") {
  std::vector<Observation> rows{row_of(8, 33554432, 1.0e-3, "a", "line 7"),  // out of place
                                row_of(8, 33554432, 1.1e-3, "a", "line 7"),  // in place
                                row_of(8, 33554400, 1.5 * std::sqrt(1.1) * 1e-3, "b", "line 3"),
                                row_of(16, 33554432, 1.0, "c"),
                                row_of(8, 4096, 2.0, "a", "line 1"),
                                row_of(8, 4096, 1.0, "a", "line 40")};
  const auto pairs = measured_scatter(rows);
  REQUIRE(pairs.size() == 3);
  double of_rows = 0, of_row = 0, small = 0;
  for (const Scatter& pair : pairs) {
    (!pair.places ? of_row : pair.large ? of_rows : small) = pair.difference;
  }
  CHECK(of_row == Approx(0.1));
  CHECK(of_rows == Approx(0.5));
  CHECK(small == Approx(1.0));
}

TEST_CASE("validation report: the fit beside the straight line, the scatter, the rows on request") {
  std::vector<Observation> rows = grid("a");
  for (const Observation& row : grid("b")) {
    rows.push_back(row);
    rows.back().time = row.time * 1.25;
  }
  std::vector<HeldOutRow> held_out;
  for (const Observation& row : rows) {
    const auto line = line_between_sizes(rows, row);
    if (!line) continue;
    held_out.push_back({row, LeftOut::size, 1, std::log(1.1), true, std::log(*line / row.time)});
  }
  HeldOutRow above{rows.front(), LeftOut::scales_above, 2, 0.0, true, std::nullopt};
  above.row.bytes = Bytes(1e8);
  held_out.push_back(above);
  const std::string text = validation_report(held_out, rows, false);
  CAPTURE(text);
  CHECK(text.find("straight line between neighbours") != std::string::npos);
  CHECK(text.find("from 16 MiB   each size               all kinds           16   10.0 %   10.0 % "
                  "    100 %      16    0.0 %    0.0 %") != std::string::npos);
  CHECK(
      text.find("scales above, to 2x     all kinds            1    0.0 %    0.0 %     100 %       "
                "-        -        -") != std::string::npos);
  CHECK(text.find("two runs                         12 pairs, median  25.0 %, p95  25.0 %") !=
        std::string::npos);
  CHECK(text.find("left-out rows") == std::string::npos);
  const std::string all = validation_report(held_out, rows, true);
  CHECK(all.find("+10.0 %") != std::string::npos);
  CHECK(all.ends_with(text));
}

TEST_CASE("what could not be left out is said, with what was measured and what it takes") {
  std::vector<Observation> rows = grid("a");
  const std::string text = validation_report({}, rows, false);
  CAPTURE(text);
  CHECK(text.find("Not left out, for want of measurements:") != std::string::npos);
  CHECK(text.find("each size") != std::string::npos);
  CHECK(text.find("it takes three, of which the least and the greatest stay in the fit") !=
        std::string::npos);
  CHECK(text.find("it takes two, the greater at most 4 times the lesser") != std::string::npos);
  std::vector<HeldOutRow> held_out;
  for (const LeftOut way : {LeftOut::size, LeftOut::scale, LeftOut::scales_above})
    for (const Observation& row : rows) held_out.push_back({row, way, 2, 0.1, true, std::nullopt});
  CHECK(validation_report(held_out, rows, false).find("Not left out") == std::string::npos);
}
