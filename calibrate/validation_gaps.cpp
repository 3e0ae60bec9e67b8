// SPDX-License-Identifier: Apache-2.0
#include "calibrate/validation_gaps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "calibrate/straight_lines.hpp"

namespace amsp {
namespace {

// What was measured of one collective.
struct Measured {
  std::map<GroupShape, std::set<double>> sizes;  // in quarter octaves
  std::set<int> inside, across;                  // ranks of groups of one node, of several
};

std::string scales_text(const std::set<int>& scales) {
  return scales.empty() ? "none" : fmt::format("{}", fmt::join(scales, ", "));
}

std::string why(LeftOut left_out, const Measured& measured) {
  if (left_out == LeftOut::size) {
    std::size_t most = 0;
    for (const auto& [shape, sizes] : measured.sizes) most = std::max(most, sizes.size());
    return fmt::format(
        "{} size{} of one group; it takes three, of which the least and the greatest "
        "stay in the fit",
        most, most == 1 ? "" : "s");
  }
  if (left_out == LeftOut::scale)
    return fmt::format(
        "ranks inside a node: {}; across nodes: {}; it takes three of either, of "
        "which the least and the greatest stay in the fit",
        scales_text(measured.inside), scales_text(measured.across));
  if (left_out == LeftOut::kind) return "no other kind was measured inside a node or across nodes";
  return fmt::format("ranks across nodes: {}; it takes two, the greater at most 4 times the lesser",
                     scales_text(measured.across));
}

}  // namespace

std::string validation_gaps(const std::vector<HeldOutRow>& held_out,
                            const std::vector<Observation>& rows) {
  std::map<CollectiveKind, Measured> kinds;
  for (const Observation& row : rows) {
    Measured& measured = kinds[row.kind];
    measured.sizes[row.shape].insert(quarter_octave(row.bytes));
    (row.shape.nodes > 1 ? measured.across : measured.inside).insert(row.shape.ranks);
  }
  std::string text;
  for (const LeftOut left_out :
       {LeftOut::size, LeftOut::scale, LeftOut::scales_above, LeftOut::kind})
    for (const auto& [kind, measured] : kinds) {
      if (left_out == LeftOut::kind && kinds.size() == 1) continue;  // nothing to derive it from
      const bool judged =
          std::any_of(held_out.begin(), held_out.end(), [&, kind = kind](const HeldOutRow& held) {
            return held.left_out == left_out && held.row.kind == kind;
          });
      if (!judged)
        text += fmt::format("  {:<13} {:<15} {}\n", name_of(left_out), name_of(kind),
                            why(left_out, measured));
    }
  return text.empty() ? text : "\nNot left out, for want of measurements:\n" + text;
}

}  // namespace amsp
