// SPDX-License-Identifier: Apache-2.0
// Where Chakra counts otherwise: it names a communicator group by one number, ours is a family and
// a group in it; and its comm_size is what one rank puts in (as ASTRA-sim reads it), ours is the
// whole buffer.
#pragma once
#include <vector>

#include "base/collective_kind.hpp"
#include "base/quantity.hpp"
#include "workloads/schedule.hpp"

namespace amsp {

inline Bytes whole_buffer(CollectiveKind kind, Bytes of_one_rank, int ranks) {
  const bool parts = kind == CollectiveKind::all_gather || kind == CollectiveKind::gather;
  return of_one_rank * (parts ? ranks : 1);
}

// Groups are numbered through: those of the first family from 0, then those of the next.
class GroupNumbers {
 public:
  explicit GroupNumbers(const std::vector<Communicator>& communicators) {
    int next = 0;
    for (const Communicator& communicator : communicators) {
      first_.push_back(next);
      next += communicator.group_count();
    }
    count_ = next;
  }
  [[nodiscard]] int number(CommId communicator, int group) const {
    return first_[communicator.position()] + group;
  }
  // The family of a number in [0, count()).
  [[nodiscard]] CommId family(int number) const {
    std::size_t family = 0;
    while (family + 1 < first_.size() && first_[family + 1] <= number) ++family;
    return CommId(family);
  }
  [[nodiscard]] int count() const { return count_; }

 private:
  std::vector<int> first_;
  int count_ = 0;
};

}  // namespace amsp
