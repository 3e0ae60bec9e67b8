// SPDX-License-Identifier: Apache-2.0
// Colour refinement: a colour is a 64-bit hash of the colour before and of the multiset of (label,
// colour) around; sums of mixed hashes stand for multisets, so a round is one pass over the edges.
#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_map>

#include "sim/implied_links.hpp"
#include "sim/jitter.hpp"
#include "sim/partition.hpp"

namespace amsp {
namespace {

using Colour = std::uint64_t;

Colour combine(Colour a, Colour b) { return mix64(a ^ mix64(b)); }

// Equal up to rounding (about 12 digits): sums in another order must not split a class.
Colour rounded(double value) {
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);
  return combine(static_cast<Colour>(std::llround(mantissa * 0x1p40)),
                 static_cast<Colour>(static_cast<std::int64_t>(exponent)));
}

// Number of distinct colours; open addressing, a power of two of slots.
std::size_t distinct(const std::vector<Colour>& colours) {
  std::vector<Colour> slots(1024);
  std::size_t count = 0;
  const auto insert = [](std::vector<Colour>& table, Colour colour) {
    std::size_t at = colour & (table.size() - 1);
    while (table[at] != 0 && table[at] != colour) at = (at + 1) & (table.size() - 1);
    const bool is_new = table[at] == 0;
    table[at] = colour;
    return is_new;
  };
  for (const Colour colour : colours) {
    if (!insert(slots, colour | 1)) continue;
    if (++count * 2 < slots.size()) continue;
    std::vector<Colour> larger(slots.size() * 4);
    for (const Colour old : slots)
      if (old != 0) insert(larger, old);
    slots.swap(larger);
  }
  return count;
}

// Implied now and on the healthy network, whose capacities set the wire efficiency of a group.
std::vector<char> always_implied(const Unfolded& all) {
  std::vector<Bandwidth> healthy;
  for (const Link& link : all.network->links()) healthy.push_back(link.capacity);
  std::vector<char> implied = implied_links(*all.network, all.capacity);
  const std::vector<char> before = implied_links(*all.network, healthy);
  for (std::size_t l = 0; l < implied.size(); ++l) implied[l] = implied[l] && before[l];
  return implied;
}

class Refinement {
 public:
  explicit Refinement(const Unfolded& all)
      : all_(all),
        implied_(always_implied(all)),
        ranks_(all.ranks),
        groups_(all.groups),
        links_(all.capacity.size()) {}

  Partition run() {
    colour_ranks();
    colour_groups();
    colour_links();
    std::size_t classes = 0;
    while (true) {
      const std::size_t now = distinct(ranks_) + distinct(groups_) + distinct(links_);
      if (now == classes) break;
      classes = now;
      round();
    }
    return number();
  }

 private:
  // Job, speed and the roles that a rank plays.
  void colour_ranks() {
    for (std::size_t j = 0; j < all_.jobs.size(); ++j) {
      const JobGroups& job = all_.jobs[j];
      for (std::size_t r = 0; r < job.gpu_of_rank.size(); ++r)
        ranks_[all_.first_rank[j] + r] =
            combine(j + 1, rounded(all_.speed[job.gpu_of_rank[r].position()]));
      std::vector<std::vector<char>> used(job.tables.size());  // [communicator][index]
      for (const Op& op : job.schedule->ops) {
        if (!op.role) continue;
        auto& indices = used[op.role->communicator.position()];
        const auto index = static_cast<std::size_t>(op.role->index);
        if (indices.size() <= index) indices.resize(index + 1);
        indices[index] = 1;
      }
      for (std::size_t c = 0; c < used.size(); ++c) {
        if (used[c].empty()) continue;
        for (std::size_t r = 0; r < job.gpu_of_rank.size(); ++r) {
          const int index = job.tables[c].index_of[r];
          const auto i = static_cast<std::size_t>(index);
          if (index < 0 || i >= used[c].size() || !used[c][i]) continue;
          Colour& colour = ranks_[all_.first_rank[j] + r];
          colour = combine(colour, combine(c + 1, i + 1));
        }
      }
    }
  }

  void colour_groups() {
    for (std::size_t j = 0; j < all_.jobs.size(); ++j)
      for (std::size_t c = 0; c < all_.jobs[j].tables.size(); ++c) {
        const GroupTable& table = all_.jobs[j].tables[c];
        const Colour family = combine(j + 1, c + 1);
        for (std::size_t g = 0; g < table.shape_of.size(); ++g)
          groups_[all_.first_group[j][c] + g] =
              combine(family, static_cast<Colour>(table.shape_of[g]));
      }
  }

  // Healthy and present capacity: the first sets the pace of a group that is alone.
  void colour_links() {
    for (std::size_t l = 0; l < links_.size(); ++l)
      links_[l] = combine(rounded(all_.network->links()[l].capacity.value()),
                          rounded(all_.capacity[l].value()));
  }

  // Every edge passes its ends' colours, with its label, to the other end.
  void round() {
    std::vector<Colour> rank_sum(ranks_.size()), group_sum(groups_.size()), link_sum(links_.size());
    for (std::size_t j = 0; j < all_.jobs.size(); ++j) {
      member_edges(j, rank_sum, group_sum);
      for (std::size_t p = 0; p < all_.traffic[j].patterns.size(); ++p)
        traffic_edges(j, p, group_sum, link_sum);
    }
    const auto renew = [](std::vector<Colour>& colours, const std::vector<Colour>& sums) {
      for (std::size_t i = 0; i < colours.size(); ++i) colours[i] = combine(colours[i], sums[i]);
    };
    renew(ranks_, rank_sum);
    renew(groups_, group_sum);
    renew(links_, link_sum);
  }

  void member_edges(std::size_t j, std::vector<Colour>& rank_sum, std::vector<Colour>& group_sum) {
    const JobGroups& job = all_.jobs[j];
    for (std::size_t c = 0; c < job.tables.size(); ++c) {
      const std::size_t first_group = all_.first_group[j][c];
      for (std::size_t r = 0; r < job.gpu_of_rank.size(); ++r) {
        if (job.tables[c].group_of[r] < 0) continue;
        const std::size_t group = first_group + static_cast<std::size_t>(job.tables[c].group_of[r]);
        const std::size_t rank = all_.first_rank[j] + r;
        group_sum[group] += mix64(ranks_[rank]);
        rank_sum[rank] += mix64(groups_[group]);  // the group's colour tells the communicator
      }
    }
  }

  void traffic_edges(std::size_t j, std::size_t p, std::vector<Colour>& group_sum,
                     std::vector<Colour>& link_sum) {
    const TrafficPattern& pattern = all_.traffic[j].patterns[p];
    const std::size_t first_group = all_.first_group[j][pattern.communicator.position()];
    double known_load = -1;
    Colour label = 0;
    for (std::size_t g = 0; g + 1 < pattern.first.size(); ++g) {
      const Colour group = groups_[first_group + g];
      Colour sum = 0;
      for (std::size_t e = pattern.first[g]; e < pattern.first[g + 1]; ++e) {
        const LinkLoad& edge = pattern.loads[e];
        if (edge.load != known_load) {
          known_load = edge.load;
          label = combine(rounded(edge.load), p + 1);
        }
        const std::size_t link = edge.link.position();
        if (implied_[link]) continue;
        sum += mix64(links_[link] ^ label);
        link_sum[link] += mix64(group ^ label);
      }
      group_sum[first_group + g] += sum;
    }
  }

  static int number(const std::vector<Colour>& colours, const std::vector<char>* used,
                    std::vector<int>& classes) {
    std::unordered_map<Colour, int> known;
    classes.assign(colours.size(), -1);
    for (std::size_t i = 0; i < colours.size(); ++i) {
      if (used && !(*used)[i]) continue;
      classes[i] = known.try_emplace(colours[i], static_cast<int>(known.size())).first->second;
    }
    return static_cast<int>(known.size());
  }

  Partition number() const {
    std::vector<char> used(links_.size());
    for (const TrafficTable& table : all_.traffic)
      for (const TrafficPattern& pattern : table.patterns)
        for (const LinkLoad& load : pattern.loads)
          used[load.link.position()] = !implied_[load.link.position()];
    Partition partition;
    partition.rank_classes = number(ranks_, nullptr, partition.rank_class);
    partition.group_classes = number(groups_, nullptr, partition.group_class);
    partition.link_classes = number(links_, &used, partition.link_class);
    return partition;
  }

  const Unfolded& all_;
  std::vector<char> implied_;
  std::vector<Colour> ranks_, groups_, links_;
};

}  // namespace

Partition coarsest_partition(const Unfolded& unfolded) { return Refinement(unfolded).run(); }

}  // namespace amsp
