// SPDX-License-Identifier: Apache-2.0
// An algorithm with a protocol: one way in which NCCL can run a collective.
#pragma once
#include <compare>
#include <string_view>

#include "base/collective_kind.hpp"

namespace amsp {

enum class Protocol { ll, ll128, simple };
std::string_view name_of(Protocol protocol);  // "LL", "LL128", "Simple"

// Kinds that NCCL runs as sends and receives between pairs, never as rings or trees.
bool is_pairwise(CollectiveKind kind);

class NcclAlgorithm;

// A registered algorithm of NCCL (nccl_algorithm.hpp) as a value, in the order of
// nccl_algorithms().
class Algorithm {
 public:
  Algorithm() = default;  // none
  explicit Algorithm(const NcclAlgorithm& registered) : registered_(&registered) {}
  const NcclAlgorithm* operator->() const { return registered_; }
  bool operator==(const Algorithm&) const = default;
  std::strong_ordering operator<=>(const Algorithm& other) const;

 private:
  const NcclAlgorithm* registered_ = nullptr;
};
std::string_view name_of(Algorithm algorithm);

struct Candidate {
  Algorithm algorithm;
  Protocol protocol = Protocol::simple;
  bool operator==(const Candidate&) const = default;
};

}  // namespace amsp
