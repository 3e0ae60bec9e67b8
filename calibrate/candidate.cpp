// SPDX-License-Identifier: Apache-2.0
#include "calibrate/candidate.hpp"

#include <array>
#include <cstddef>
#include <tuple>

#include "calibrate/nccl_algorithm.hpp"

namespace amsp {
namespace {

// Those that only logs can tell of come last, else the older first; at last the name decides.
auto place_of(const NcclAlgorithm& algorithm) {
  return std::tuple(algorithm.only_where_stated(), algorithm.since(), algorithm.name());
}

}  // namespace

std::string_view name_of(Protocol protocol) {
  constexpr std::array<std::string_view, 3> names{"LL", "LL128", "Simple"};
  return names[static_cast<std::size_t>(protocol)];
}

std::string_view name_of(Algorithm algorithm) { return algorithm->name(); }

std::strong_ordering Algorithm::operator<=>(const Algorithm& other) const {
  if (registered_ == other.registered_) return std::strong_ordering::equal;
  if (registered_ == nullptr) return std::strong_ordering::less;
  if (other.registered_ == nullptr) return std::strong_ordering::greater;
  return place_of(*registered_) <=> place_of(*other.registered_);
}

bool is_pairwise(CollectiveKind kind) {
  return kind == CollectiveKind::all_to_all || kind == CollectiveKind::send_recv ||
         kind == CollectiveKind::scatter || kind == CollectiveKind::gather;
}

}  // namespace amsp
