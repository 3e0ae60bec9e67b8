// SPDX-License-Identifier: Apache-2.0
#include "workloads/ownership.hpp"

#include <algorithm>
#include <numeric>

namespace amsp {
namespace {

struct Item {
  Bytes bytes;
  int module = 0;
};

std::vector<Item> items_of(const Job& job) {
  std::vector<Item> items;
  const double shards = job.strategy.parameters.size();
  for (std::size_t m = 0; m < job.modules.size(); ++m)
    for (const Tensor& tensor : job.modules[m].tensors)
      items.push_back({size_of(job.training.dtype) * static_cast<double>(tensor.elements) / shards,
                       static_cast<int>(m)});
  return items;
}

void give(Ownership& ownership, std::size_t owner, const Item& item) {
  ownership.bytes[owner] += item.bytes;
  ownership.modules[owner].push_back(item.module);
}

void in_model_order(const std::vector<Item>& items, Ownership& ownership) {
  Bytes all;
  for (const Item& item : items) all += item.bytes;
  const auto owners = ownership.bytes.size();
  const Bytes target = all * 1.01 / static_cast<double>(owners);
  std::size_t owner = 0;
  for (const Item& item : items) {
    const bool full =
        ownership.bytes[owner] > Bytes(0) && ownership.bytes[owner] + item.bytes > target;
    if (full && owner + 1 < owners) ++owner;
    give(ownership, owner, item);
  }
}

void largest_first(std::vector<Item> items, Ownership& ownership) {
  std::stable_sort(items.begin(), items.end(),
                   [](const Item& a, const Item& b) { return a.bytes > b.bytes; });
  for (const Item& item : items) {
    const auto least = std::min_element(ownership.bytes.begin(), ownership.bytes.end());
    give(ownership, static_cast<std::size_t>(least - ownership.bytes.begin()), item);
  }
}

}  // namespace

Bytes Ownership::largest() const { return *std::max_element(bytes.begin(), bytes.end()); }

Ownership own_optimizer_states(const Job& job) {
  const auto owners =
      static_cast<std::size_t>(job.strategy.optimizer.size() / job.strategy.parameters.size());
  Ownership ownership;
  ownership.bytes.resize(owners);
  ownership.modules.resize(owners);
  const std::vector<Item> items = items_of(job);
  if (!job.strategy.inter_tensor_ownership || owners == 1) {
    // Slices of one flat buffer in model order.
    const Bytes share = job.all_bytes() / job.strategy.optimizer.size();
    Bytes begin;
    for (const Item& item : items) {
      const Bytes end = begin + item.bytes;
      const auto first = std::min(static_cast<std::size_t>(begin / share), owners - 1);
      const auto last = std::min(static_cast<std::size_t>(end / share), owners - 1);
      for (std::size_t owner = first; owner <= last; ++owner)
        ownership.modules[owner].push_back(item.module);
      begin = end;
    }
    std::fill(ownership.bytes.begin(), ownership.bytes.end(), share);
  } else if (job.strategy.overlap_broadcast) {
    in_model_order(items, ownership);
  } else {
    largest_first(items, ownership);
  }
  for (auto& modules : ownership.modules) {
    std::sort(modules.begin(), modules.end());
    modules.erase(std::unique(modules.begin(), modules.end()), modules.end());
  }
  return ownership;
}

}  // namespace amsp
