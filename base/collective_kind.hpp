// SPDX-License-Identifier: Apache-2.0
// Kinds of collectives, and the one convention for their size: the WHOLE buffer, as the size
// column of nccl-tests means it (all_gather, reduce_scatter: n x the part of one rank; all_to_all:
// what one rank sends in total; broadcast, reduce: the root's buffer; send_recv: bytes per rank).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/quantity.hpp"

namespace amsp {

enum class CollectiveKind {
  all_reduce,
  all_gather,
  reduce_scatter,
  broadcast,
  reduce,
  all_to_all,
  send_recv,
  scatter,
  gather
};

std::string_view name_of(CollectiveKind kind);  // "all_reduce"
// Also accepts nccl-tests' own spellings ("alltoall", "AllReduce", "sendrecv").
CollectiveKind parse_collective_kind(std::string_view text, const Place& place = {});
std::vector<std::string> collective_kind_names();

// nccl-tests' factor from algorithm to bus bandwidth for n ranks (its doc/PERFORMANCE.md):
// all_reduce 2(n-1)/n; all_gather, reduce_scatter, all_to_all, scatter, gather (n-1)/n; others 1.
double bus_factor(CollectiveKind kind, int ranks);

}  // namespace amsp
