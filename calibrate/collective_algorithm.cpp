// SPDX-License-Identifier: Apache-2.0
#include "calibrate/collective_algorithm.hpp"

#include "base/error.hpp"
#include "calibrate/group_layout.hpp"

namespace amsp {

Traffic CollectiveAlgorithm::traffic(CollectiveKind kind, Bytes bytes, std::span<const GpuId> group,
                                     int root, const Network& network) const {
  if (group.size() < 2) return {};
  const GroupLayout layout(group, network);
  LoadSum sum(network);
  const Bytes flow = add_loads({kind, bytes, group, root}, layout, network, sum);
  return {flow, sum.take()};
}

std::vector<Message> CollectiveAlgorithm::messages(CollectiveKind, Bytes, std::span<const GpuId>,
                                                   int, const Network&) const {
  return {};
}

const std::vector<const CollectiveAlgorithm*>& collective_algorithms() {
  static const std::vector<std::unique_ptr<CollectiveAlgorithm>> owned =
      make_collective_algorithms();
  static const std::vector<const CollectiveAlgorithm*> all = [] {
    std::vector<const CollectiveAlgorithm*> pointers;
    for (const auto& algorithm : owned) pointers.push_back(algorithm.get());
    return pointers;
  }();
  return all;
}

const CollectiveAlgorithm& find_collective_algorithm(std::string_view name) {
  std::vector<std::string> names;
  for (const CollectiveAlgorithm* algorithm : collective_algorithms()) {
    if (algorithm->name() == name) return *algorithm;
    names.emplace_back(algorithm->name());
  }
  throw InputError(unknown_name("collective algorithm", name, names));
}

}  // namespace amsp
