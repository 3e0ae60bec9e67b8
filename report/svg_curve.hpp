// SPDX-License-Identifier: Apache-2.0
// A static figure as SVG, drawn by gnuplot from report/curve.gp: what was measured or published as
// points, the model as a line, its interval as a band. Same input, same bytes.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace amsp {

enum class CurveKind { line, points };

// Coordinates are in the units that the axis labels name.
struct CurvePoint {
  double x = 0;
  double y = 0;
  double low = 0, high = 0;  // interval of y; both equal y where there is none
};

struct Curve {
  std::string title;  // empty: not in the key
  CurveKind kind = CurveKind::line;
  bool interval = false;  // a line with a band, points with error bars
  std::vector<CurvePoint> points;
  int colour = 0;  // of the palette, from 1; 0: the position in the plot
};

struct Plot {
  std::string title;  // the question and the answer
  std::string x_label, y_label;
  bool log_x = false, log_y = false;
  std::vector<Curve> curves;
  bool bytes_x = false;   // x is in bytes: its axis reads 1 KiB, 32 KiB …; the key stands right
  bool signed_y = false;  // y has both signs: a line at zero
  int width = 840, height = 520;
};

// Nothing, and a note on stderr, when gnuplot is not installed. Throws std::runtime_error when
// gnuplot fails on the script (a bug), InputError when the plot has no point.
std::optional<std::string> svg_curve(const Plot& plot);

}  // namespace amsp
