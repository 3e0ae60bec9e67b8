// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cassert>

#include "workloads/schedule.hpp"

namespace amsp {
namespace {

int product(const std::vector<Communicator::Axis>& axes, bool member) {
  int result = 1;
  for (const auto& axis : axes)
    if (axis.member == member) result *= axis.size;
  return result;
}

}  // namespace

int Communicator::group_size() const {
  if (!axes.empty()) return product(axes, true);
  std::size_t largest = 0;
  for (const auto& group : groups) largest = std::max(largest, group.size());
  return static_cast<int>(largest);
}

int Communicator::group_count() const {
  return axes.empty() ? static_cast<int>(groups.size()) : product(axes, false);
}

std::vector<Rank> Communicator::members(int group) const {
  assert(group >= 0 && group < group_count());
  if (axes.empty()) return groups[static_cast<std::size_t>(group)];
  std::vector<Rank> result;
  const int size = group_size();
  for (int index = 0; index < size; ++index) {
    int rank = 0;
    int weight = 1;
    int of_group = group;
    int of_member = index;
    for (const Axis& axis : axes) {
      int& digits = axis.member ? of_member : of_group;
      rank += weight * (digits % axis.size);
      digits /= axis.size;
      weight *= axis.size;
    }
    result.emplace_back(rank);
  }
  return result;
}

std::optional<Communicator::Membership> Communicator::membership(Rank rank) const {
  if (axes.empty()) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const auto it = std::find(groups[g].begin(), groups[g].end(), rank);
      if (it != groups[g].end())
        return Membership{static_cast<int>(g), static_cast<int>(it - groups[g].begin())};
    }
    return std::nullopt;
  }
  int rest = rank.index;
  Membership result{0, 0};
  int group_weight = 1;
  int member_weight = 1;
  for (const Axis& axis : axes) {
    const int digit = rest % axis.size;
    rest /= axis.size;
    int& weight = axis.member ? member_weight : group_weight;
    (axis.member ? result.index : result.group) += weight * digit;
    weight *= axis.size;
  }
  if (rank.index < 0 || rest != 0) return std::nullopt;
  return result;
}

}  // namespace amsp
