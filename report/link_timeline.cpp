// SPDX-License-Identifier: Apache-2.0
#include "report/link_timeline.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "report/instances.hpp"
#include "sim/traffic_table.hpp"

namespace amsp {
namespace {

// Links beyond this many (of an unfolded or disturbed cluster) are left out, the least busy first.
constexpr std::size_t kMostLinks = 64;

std::set<LinkId> shown_links(const ReplayResult& result) {
  std::vector<LinkUse> uses = result.links;
  std::stable_sort(uses.begin(), uses.end(),
                   [](const LinkUse& a, const LinkUse& b) { return a.busy > b.busy; });
  if (uses.size() > kMostLinks) uses.resize(kMostLinks);
  std::set<LinkId> links;
  for (const LinkUse& use : uses) links.insert(use.link);
  return links;
}

class LinkTimeline {
 public:
  LinkTimeline(const ReplayInput& input, const ReplayResult& result)
      : schedule_(input.schedule),
        result_(result),
        groups_(make_job_groups(input.schedule, input.gpu_of_rank, input.network)),
        traffic_(make_traffic_table(groups_, input.network, input.collectives)),
        links_(shown_links(result)) {
    const Instances instances(input.schedule, result);
    for (const OpRecord& record : instances.records())
      records_[{record.op, record.rank}].push_back(record);
  }

  std::vector<LinkSpan> spans() {
    for (std::size_t i = 0; i < schedule_.ops.size(); ++i)
      if (schedule_.ops[i].collective) add_op(OpId(i));
    std::vector<LinkSpan> all;
    for (const auto& [key, bytes] : carried_) {
      const auto& [link, start, end, op] = key;
      all.push_back({link, op, start, end, bytes});
    }
    return all;
  }

 private:
  using Key = std::tuple<LinkId, Seconds, Seconds, OpId>;

  void add_op(OpId id) {
    const Op& op = schedule_.op(id);
    const GroupTable& table = groups_.tables[op.collective->communicator.position()];
    for (int group = 0; group < table.groups(); ++group) {
      const auto shape = static_cast<std::size_t>(table.shape_of[static_cast<std::size_t>(group)]);
      const int pattern = traffic_.ops[id.position()][shape].pattern;
      if (pattern < 0) continue;
      if (const auto* records = records_of(id, table.ranks(group)))
        add_group(op, traffic_.patterns[static_cast<std::size_t>(pattern)], group, *records);
    }
  }

  // The records of the op that stand for this group: those of the class of one of its ranks.
  const std::vector<OpRecord>* records_of(OpId op, std::span<const Rank> ranks) const {
    for (const Rank rank : ranks) {
      const auto of = static_cast<std::size_t>(result_.class_of_rank[rank.position()]);
      const auto found = records_.find({op, result_.rank_classes[of].representative});
      if (found != records_.end()) return &found->second;
    }
    return nullptr;
  }

  void add_group(const Op& op, const TrafficPattern& pattern, int group,
                 const std::vector<OpRecord>& records) {
    const Bytes flow =
        pattern.flow[static_cast<std::size_t>(group)] * (op.collective->bytes / pattern.size);
    for (const LinkLoad& load : pattern.loads_of(group)) {
      if (links_.count(load.link) == 0) continue;
      for (const OpRecord& record : records)
        carried_[{load.link, record.start, record.end, record.op}] += flow * load.load;
    }
  }

  const Schedule& schedule_;
  const ReplayResult& result_;
  JobGroups groups_;
  TrafficTable traffic_;
  std::set<LinkId> links_;
  std::map<std::pair<OpId, Rank>, std::vector<OpRecord>> records_;
  std::map<Key, Bytes> carried_;  // groups that run at the same time are summed
};

}  // namespace

std::vector<LinkSpan> link_timeline(const ReplayInput& input, const ReplayResult& result) {
  if (result.class_of_rank.empty()) return {};
  return LinkTimeline(input, result).spans();
}

}  // namespace amsp
