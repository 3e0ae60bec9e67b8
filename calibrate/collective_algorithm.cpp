// SPDX-License-Identifier: Apache-2.0
#include "calibrate/collective_algorithm.hpp"

#include "base/error.hpp"

namespace amsp {

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
