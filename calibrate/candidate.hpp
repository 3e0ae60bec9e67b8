// SPDX-License-Identifier: Apache-2.0
// An algorithm with a protocol: one way in which NCCL can run a collective.
#pragma once
#include <string_view>

#include "base/collective_kind.hpp"

namespace amsp {

enum class Protocol { ll, ll128, simple };
enum class Algorithm { ring, tree, nvls, nvls_tree, pairwise, collnet };
std::string_view name_of(Protocol protocol);    // "LL", "LL128", "Simple"
std::string_view name_of(Algorithm algorithm);  // the registered algorithm of that name

// Kinds that NCCL runs as sends and receives between pairs, never as rings or trees.
bool is_pairwise(CollectiveKind kind);

struct Candidate {
  Algorithm algorithm;
  Protocol protocol;
  bool operator==(const Candidate&) const = default;
};

}  // namespace amsp
