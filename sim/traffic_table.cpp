// SPDX-License-Identifier: Apache-2.0
#include "sim/traffic_table.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace amsp {
namespace {

class Builder {
 public:
  Builder(const JobGroups& job, const Network& network, const CollectiveModel& model)
      : job_(job), network_(network), model_(model) {}

  TrafficTable build() {
    const auto& ops = job_.schedule->ops;
    table_.ops.resize(ops.size());
    for (std::size_t o = 0; o < ops.size(); ++o)
      if (ops[o].collective) table_.ops[o] = traffic_of(*ops[o].collective);
    return std::move(table_);
  }

 private:
  using Key = std::tuple<CommId, CollectiveKind, double, Dtype, int>;

  const std::vector<OpTraffic>& traffic_of(const CollectivePart& part) {
    const Key key{part.communicator, part.kind, part.bytes.value(), part.dtype, part.root};
    const auto [entry, is_new] = known_.try_emplace(key);
    if (!is_new) return entry->second;
    entry->second.resize(job_.shapes.size());
    const GroupTable& groups = job_.tables[part.communicator.position()];
    for (int g = 0; g < groups.groups(); ++g) {
      const auto shape = static_cast<std::size_t>(groups.shape_of[static_cast<std::size_t>(g)]);
      OpTraffic& traffic = entry->second[shape];
      if (traffic.pattern >= 0 || job_.shapes[shape].ranks < 2 || part.bytes <= Bytes{}) continue;
      traffic.estimate = model_.estimate(part.kind, part.bytes, part.dtype, job_.shapes[shape]);
      table_.range = std::max(table_.range, traffic.estimate.range);
      traffic.pattern = pattern_of(part, traffic.estimate.algorithm);
    }
    return entry->second;
  }

  int pattern_of(const CollectivePart& part, const std::string& name) {
    const CollectiveAlgorithm& algorithm = find_collective_algorithm(name);
    for (std::size_t p = 0; p < table_.patterns.size(); ++p) {
      const TrafficPattern& pattern = table_.patterns[p];
      if (pattern.communicator == part.communicator && pattern.kind == part.kind &&
          pattern.root == part.root && pattern.algorithm == &algorithm)
        return static_cast<int>(p);
    }
    table_.patterns.push_back(new_pattern(part, algorithm));
    return static_cast<int>(table_.patterns.size()) - 1;
  }

  TrafficPattern new_pattern(const CollectivePart& part, const CollectiveAlgorithm& algorithm) {
    TrafficPattern pattern{part.communicator, part.kind, part.root, &algorithm,
                           part.bytes,        {0},       {},        {}};
    const GroupTable& groups = job_.tables[part.communicator.position()];
    for (int g = 0; g < groups.groups(); ++g) {
      Bytes flow;
      if (groups.gpus_of(g).size() > 1) {
        const Traffic traffic =
            algorithm.traffic(part.kind, part.bytes, groups.gpus_of(g), part.root, network_);
        flow = traffic.flow;
        pattern.loads.insert(pattern.loads.end(), traffic.links.begin(), traffic.links.end());
      }
      pattern.flow.push_back(flow);
      pattern.first.push_back(pattern.loads.size());
    }
    return pattern;
  }

  const JobGroups& job_;
  const Network& network_;
  const CollectiveModel& model_;
  TrafficTable table_;
  std::map<Key, std::vector<OpTraffic>> known_;
};

}  // namespace

std::span<const LinkLoad> TrafficPattern::loads_of(int group) const {
  const auto g = static_cast<std::size_t>(group);
  return std::span(loads).subspan(first[g], first[g + 1] - first[g]);
}

TrafficTable make_traffic_table(const JobGroups& job, const Network& network,
                                const CollectiveModel& model) {
  return Builder(job, network, model).build();
}

}  // namespace amsp
