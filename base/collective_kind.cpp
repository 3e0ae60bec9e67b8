// SPDX-License-Identifier: Apache-2.0
#include "base/collective_kind.hpp"

#include <array>
#include <cassert>
#include <cctype>
#include <cstddef>

namespace amsp {
namespace {

constexpr std::array<std::string_view, 9> kNames{"all_reduce", "all_gather", "reduce_scatter",
                                                 "broadcast",  "reduce",     "all_to_all",
                                                 "send_recv",  "scatter",    "gather"};

// "AllReduce", "all-reduce", "alltoall" → letters only, lower case.
std::string letters(std::string_view text) {
  std::string result;
  for (const char c : text)
    if (std::isalpha(static_cast<unsigned char>(c)) != 0)
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

}  // namespace

std::string_view name_of(CollectiveKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

std::vector<std::string> collective_kind_names() { return {kNames.begin(), kNames.end()}; }

CollectiveKind parse_collective_kind(std::string_view text, const Place& place) {
  const std::string wanted = letters(text);
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (letters(kNames[i]) == wanted) return static_cast<CollectiveKind>(i);
  throw InputError(place, unknown_name("collective", text, collective_kind_names()));
}

double bus_factor(CollectiveKind kind, int ranks) {
  assert(ranks >= 1);
  const double part = static_cast<double>(ranks - 1) / ranks;
  switch (kind) {
    case CollectiveKind::all_reduce:
      return 2 * part;
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_to_all:
    case CollectiveKind::scatter:
    case CollectiveKind::gather:
      return part;
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
    case CollectiveKind::send_recv:
      return 1;
  }
  return 1;
}

}  // namespace amsp
