// SPDX-License-Identifier: Apache-2.0
#include "calibrate/candidate.hpp"

#include <array>
#include <cstddef>

namespace amsp {

std::string_view name_of(Protocol protocol) {
  constexpr std::array<std::string_view, 3> names{"LL", "LL128", "Simple"};
  return names[static_cast<std::size_t>(protocol)];
}

std::string_view name_of(Algorithm algorithm) {
  constexpr std::array<std::string_view, 6> names{"ring",      "tree",     "nvls",
                                                  "nvls_tree", "pairwise", "collnet"};
  return names[static_cast<std::size_t>(algorithm)];
}

bool is_pairwise(CollectiveKind kind) {
  return kind == CollectiveKind::all_to_all || kind == CollectiveKind::send_recv ||
         kind == CollectiveKind::scatter || kind == CollectiveKind::gather;
}

}  // namespace amsp
