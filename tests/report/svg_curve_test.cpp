// SPDX-License-Identifier: Apache-2.0
#include "report/svg_curve.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>

#include "base/error.hpp"

using namespace amsp;

namespace {

Plot example() {
  return {"How does TGS scale? It <falls> & \"falls\"",
          "GPUs",
          "TGS",
          true,
          false,
          {{"model", CurveKind::line, true, {{8, 4000, 3900, 4100}, {1024, 3200, 3000, 3400}}},
           {"Fig_12", CurveKind::points, false, {{8, 4100, 4100, 4100}}},
           {"measured", CurveKind::points, true, {{64, 3700, 3600, 3800}}}}};
}

}  // namespace

TEST_CASE("a figure shows titles, axes and every curve, and is the same each time") {
  const auto svg = svg_curve(example());
  if (!svg) {
    WARN("skipped: gnuplot is not installed");
    return;
  }
  for (const char* text : {"How does TGS scale? It &lt;falls> &amp; ", ">GPUs<", ">TGS<", ">model<",
                           ">Fig_12<", ">measured<", "1024"})
    CHECK(svg->find(text) != std::string::npos);
  CHECK(svg->find("amsp-plot-") == std::string::npos);  // no path of this machine
  CHECK(svg == svg_curve(example()));
}

TEST_CASE("sizes on an axis have the units of the other outputs") {
  Plot plot{
      "Sizes", "size of the whole buffer",
      "GB/s",  true,
      false,   {{"model", CurveKind::line, false, {{1024, 1, 1, 1}, {8.0 * 1073741824, 2, 2, 2}}}}};
  plot.bytes_x = true;
  const auto svg = svg_curve(plot);
  if (!svg) {
    WARN("skipped: gnuplot is not installed");
    return;
  }
  for (const char* size : {" KiB<", " MiB<", " GiB<"}) CHECK(svg->find(size) != std::string::npos);
  CHECK(svg->find("kiB") == std::string::npos);
}

TEST_CASE("a figure without points is refused") {
  CHECK_THROWS_AS(svg_curve({"empty", "x", "y", false, false, {}}), InputError);
}

TEST_CASE("without gnuplot there is no figure and no failure") {
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/nonexistent", 1);
  CHECK_FALSE(svg_curve(example()).has_value());
  setenv("PATH", path.c_str(), 1);
}
