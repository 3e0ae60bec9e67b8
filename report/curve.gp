# SPDX-License-Identifier: Apache-2.0
# Draws one figure. report/svg_curve.cpp sets the variables (labels, numbers of bands, lines, bars
# and points, their titles and colours) and loads this file; the data file holds one block a curve.
set encoding utf8
set terminal svg size width,height dynamic font "sans-serif,13" noenhanced background "#ffffff"
set output figure
set title plot_title
set xlabel x_label
set ylabel y_label
set key bottom left Left reverse samplen 2 spacing 1.2 box lc rgb "#cccccc" opaque
set grid back lc rgb "#dddddd"
set border 3 lc rgb "#444444"
set tics nomirror out
if (log_x) { set logscale x 2; set xtics format "%.0f" } else { set xrange [0:*] }
if (log_y) { set logscale y } else { if (!signed_y) { set yrange [0:*] } }
if (signed_y) { set xzeroaxis lc rgb "#444444" }
if (bytes_x) {
  # Panels with one axis of sizes stand above each other: the same margins, keys at the right.
  set xtics format "%.0b %BB"
  set lmargin at screen 0.1; set rmargin at screen 0.7
  set key at screen 0.715, graph 1 left top Left reverse nobox
  unset ylabel
  set label y_label at screen 0.022, graph 0.5 center rotate by 90
}
if (log_y) { set ytics format "%g" }
# A line over sizes has many points, too many to mark. Bands around zero lie on each other, and are
# together as dark as one.
mark = bytes_x ? -1 : 7
line_width = signed_y ? 0 : bytes_x ? 1.6 : 2
band_fill = signed_y ? 0.4 / (bands > 0 ? bands : 1) : bytes_x ? 0.28 : 0.18
set offsets graph 0.03, graph 0.05, graph 0.05, 0

# The colours of Okabe and Ito, which colour-blind readers can tell apart.
array palette[8] = [0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9, 0x8c6d00, 0x444444]
colour(i) = palette[1 + (i - 1) % 8]
# gnuplot evaluates the options of a loop once even when the loop is empty: hence exists().
colour_of(kind, i) = exists(sprintf("%s_colour_%d", kind, i)) ? \
  colour(value(sprintf("%s_colour_%d", kind, i))) : 0
title_of(kind, i) = exists(sprintf("%s_title_%d", kind, i)) ? \
  value(sprintf("%s_title_%d", kind, i)) : ""

plot for [i=1:bands] data index i - 1 using 1:3:4 with filledcurves notitle \
       lc rgb colour_of("band", i) fill transparent solid band_fill noborder, \
     for [i=1:lines] data index bands + i - 1 using 1:2 with linespoints \
       title title_of("line", i) lc rgb colour_of("line", i) lw line_width pt mark ps 0.4, \
     for [i=1:bars] data index bands + lines + i - 1 using 1:2:3:4 with yerrorbars notitle \
       lc rgb colour_of("bar", i) lw 1.2 pt -1, \
     for [i=1:points] data index bands + lines + bars + i - 1 using 1:2 with points \
       title title_of("point", i) lc rgb colour_of("point", i) lw 1.6 pt 6 ps 1
