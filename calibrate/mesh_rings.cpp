// SPDX-License-Identifier: Apache-2.0
#include "calibrate/mesh_rings.hpp"

#include <algorithm>

namespace amsp {
namespace {

// Links still free between pairs of members, and a depth-first search for Hamiltonian cycles that
// prefers pairs with many free links. On odd meshes it can take for ever to tell that there is none
// more: after so many steps the search gives up and takes it so. The meshes of 8 GPUs that are
// built (DGX-1, MI300X) need 21 steps at most.
constexpr int kMostSteps = 100'000;

class RingSearch {
 public:
  RingSearch(const std::vector<GpuId>& gpus, const ClusterSpec& cluster)
      : n_(gpus.size()), free_(n_ * n_, 0) {
    for (std::size_t a = 0; a < n_; ++a) {
      for (std::size_t b = 0; b < n_; ++b) {
        const int low = std::min(cluster.slot_of(gpus[a]), cluster.slot_of(gpus[b]));
        const int high = std::max(cluster.slot_of(gpus[a]), cluster.slot_of(gpus[b]));
        const auto link = cluster.node.intra.mesh_links.find({low, high});
        if (link != cluster.node.intra.mesh_links.end()) free_[a * n_ + b] = link->second;
      }
    }
  }

  // Finds a cycle over the free links and takes its links; empty when there is none.
  std::vector<std::size_t> take() {
    order_ = {0};
    used_.assign(n_, false);
    used_[0] = true;
    steps_ = 0;
    if (!extend()) return {};
    for (std::size_t i = 0; i < n_; ++i) {
      const std::size_t a = order_[i];
      const std::size_t b = order_[(i + 1) % n_];
      --free_[a * n_ + b];
      --free_[b * n_ + a];
    }
    return order_;
  }

 private:
  bool extend() {
    const std::size_t last = order_.back();
    if (order_.size() == n_) return free_[last * n_] > 0;
    std::vector<std::size_t> next;
    for (std::size_t b = 0; b < n_; ++b) {
      if (!used_[b] && free_[last * n_ + b] > 0) next.push_back(b);
    }
    std::stable_sort(next.begin(), next.end(), [&](std::size_t a, std::size_t b) {
      return free_[last * n_ + a] > free_[last * n_ + b];
    });
    for (const std::size_t b : next) {
      if (++steps_ > kMostSteps) return false;
      order_.push_back(b);
      used_[b] = true;
      if (extend()) return true;
      order_.pop_back();
      used_[b] = false;
    }
    return false;
  }

  std::size_t n_;
  std::vector<int> free_;
  std::vector<std::size_t> order_;
  std::vector<bool> used_;
  int steps_ = 0;
};

}  // namespace

std::vector<std::vector<GpuId>> mesh_rings(const std::vector<GpuId>& gpus,
                                           const ClusterSpec& cluster) {
  std::vector<std::vector<GpuId>> rings;
  if (cluster.node.intra.kind != IntraNodeKind::nvlink_mesh || gpus.size() < 3) return rings;
  RingSearch search(gpus, cluster);
  for (auto order = search.take(); !order.empty(); order = search.take()) {
    std::vector<GpuId> ring;
    for (const std::size_t i : order) ring.push_back(gpus[i]);
    rings.push_back(ring);
    rings.emplace_back(ring.rbegin(), ring.rend());
  }
  return rings;
}

}  // namespace amsp
