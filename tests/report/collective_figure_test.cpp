// SPDX-License-Identifier: Apache-2.0
// The figure of a log against the model: what it draws, and its key.
#include "report/collective_figure.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>

#include "topologies/cluster.hpp"

using namespace amsp;

namespace {

// All-reduces of as many sizes from 1 MiB on, at 10 GB/s.
void add_series(std::vector<Observation>& rows, int ranks, int sizes) {
  Observation row;
  row.shape = {ranks, 8, ranks / 8, 0};
  for (int i = 0; i < sizes; ++i) {
    row.bytes = Bytes(1048576.0 * (1 << i));
    row.time = row.bytes / Bandwidth(10e9);
    rows.push_back(row);
  }
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("the figure of a log: units, bands in both panels, and a key in order of scale") {
  const ClusterSpec cluster = load_cluster("dgx-h100");
  const auto model = load_collective_model("", cluster);
  std::vector<Observation> rows;
  add_series(rows, 128, 9);
  add_series(rows, 16, 3);
  add_series(rows, 1024, 5);
  const auto svg = comparison_figure(rows, *model);
  if (!svg) {
    WARN("skipped: gnuplot is not installed");
    return;
  }
  for (const char* text : {"bus bandwidth [GB/s]", "size of the whole buffer",
                           "model / measured time - 1 [%]", "16 MiB", "90 % interval (band)"})
    CHECK(svg->find(text) != std::string::npos);
  const auto first = svg->find(">all_reduce, 16 ranks on 2 nodes<"),
             second = svg->find(">all_reduce, 128 ranks on 16 nodes<"),
             third = svg->find(">all_reduce, 1024 ranks on 128 nodes<");
  REQUIRE(third != std::string::npos);
  CHECK(first < second);
  CHECK(second < third);
  CHECK(count(*svg, "1024 ranks") == 1);  // one key for both panels
  // One shaded band of each series in each panel.
  CHECK(count(*svg, "fill-opacity = '0.28") == 3);
  CHECK(count(*svg, "fill-opacity = '0.13") == 3);
}

TEST_CASE("a figure draws as many series as it has colours, those with the most rows") {
  const auto model = load_collective_model("", load_cluster("dgx-h100"));
  std::vector<Observation> rows;
  for (int i = 1; i <= 10; ++i) add_series(rows, 8 << i, i);
  const auto svg = comparison_figure(rows, *model);
  if (!svg) {
    WARN("skipped: gnuplot is not installed");
    return;
  }
  CHECK(count(*svg, ">all_reduce, ") == 8);
  CHECK(svg->find(">all_reduce, 16 ranks") == std::string::npos);
  CHECK(svg->find(">all_reduce, 8192 ranks") != std::string::npos);
}
