// SPDX-License-Identifier: Apache-2.0
#include "sim/problem_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "base/error.hpp"
#include "base/units_text.hpp"

namespace amsp {
namespace {

class Builder {
 public:
  Builder(const ReplayInput& input, const Unfolded& all, const Partition& partition)
      : input_(input), all_(all), partition_(partition) {}

  Problem build() {
    for (std::size_t j = 0; j < all_.jobs.size(); ++j) {
      problem_.jobs.push_back(make_job(j));
      if (j == 0) problem_.collective_range = all_.traffic[j].range;
    }
    add_links();
    problem_.ranks.resize(static_cast<std::size_t>(partition_.rank_classes));
    problem_.groups.resize(static_cast<std::size_t>(partition_.group_classes));
    for (std::size_t j = 0; j < all_.jobs.size(); ++j) {
      add_ranks(j);
      add_groups(j);
    }
    problem_.compute_uncertainty = kernels_.share();
    problem_.compute_range = compute_range();
    for (const auto& [kind, sum] : collectives_)
      problem_.collective_uncertainty[kind] = sum.share();
    return std::move(problem_);
  }

 private:
  // Sums of estimates and of the half widths of their intervals.
  struct Spread {
    double time = 0, half_width = 0;
    void add(Seconds of, Seconds low, Seconds high, std::int64_t runs) {
      time += of.value() * static_cast<double>(runs);
      half_width += (high - low).value() / 2 * static_cast<double>(runs);
    }
    [[nodiscard]] double share() const { return time > 0 ? half_width / time : 0; }
  };

  ProblemJob make_job(std::size_t j) {
    const Schedule& schedule = *all_.jobs[j].schedule;
    ProblemJob job{&schedule, Program(schedule), {}};
    for (std::size_t o = 0; o < schedule.ops.size(); ++o) {
      const std::int64_t runs = job.program.runs_per_step(OpId(o));
      Seconds time;
      for (const Kernel& kernel : schedule.ops[o].kernels) {
        const KernelEstimate estimate = input_.compute.estimate(kernel);
        if (j == 0) kernels_.add(estimate.time, estimate.low, estimate.high, runs);
        time += estimate.time;
        if (j == 0)
          time_by_range_[static_cast<std::size_t>(estimate.range)] +=
              estimate.time.value() * static_cast<double>(runs);
      }
      check_time(schedule.ops[o], time);
      job.kernel_time.push_back(input_.idealised.compute ? Seconds{} : time);
    }
    return job;
  }

  // Times that no clock could tell from none, or that outlast any job, are slips of a hand-written
  // schedule; sums of them with real ones would mean nothing.
  static void check_time(const Op& op, Seconds time) {
    constexpr Seconds kLeast(1e-12);
    constexpr Seconds kMost(1e9);
    if (time == Seconds{} || (time >= kLeast && time <= kMost)) return;
    throw InputError(fmt::format("op \"{}\" takes {}; accepted: 0, or {} to {}", op.name,
                                 to_text(time), to_text(kLeast), to_text(kMost)));
  }

  // The weakest range that, with what is weaker, holds a quarter of the computing time: the few
  // memory-bound kernels, which nobody measures, do not speak for the matrix products.
  [[nodiscard]] PredictionRange compute_range() const {
    double all = 0;
    for (const double time : time_by_range_) all += time;
    double weaker = 0;
    for (std::size_t range = time_by_range_.size(); range-- > 1;) {
      weaker += time_by_range_[range];
      if (weaker > 0 && weaker >= all / 4) return static_cast<PredictionRange>(range);
    }
    return PredictionRange::measured;
  }

  void add_links() {
    problem_.links.resize(static_cast<std::size_t>(partition_.link_classes));
    representative_.assign(partition_.link_class.size(), 0);
    for (std::size_t l = 0; l < partition_.link_class.size(); ++l) {
      if (partition_.link_class[l] < 0) continue;
      FoldedLink& link = problem_.links[static_cast<std::size_t>(partition_.link_class[l])];
      if (link.representative.valid()) {
        ++link.members;
        continue;
      }
      link = {LinkId(l), 1, all_.capacity[l]};
      representative_[l] = 1;
    }
  }

  [[nodiscard]] GroupClassId group_class(std::size_t j, std::size_t communicator, int group) const {
    const std::size_t number = all_.first_group[j][communicator] + static_cast<std::size_t>(group);
    return GroupClassId(partition_.group_class[number]);
  }

  [[nodiscard]] RankClassId rank_class(std::size_t j, Rank rank) const {
    return RankClassId(partition_.rank_class[all_.first_rank[j] + rank.position()]);
  }

  // Positions, in each block, of the ops that `accept`.
  template <class Accept>
  static Lane make_lane(const Schedule& schedule, const Accept& accept) {
    Lane lane;
    for (const Block& block : schedule.blocks) {
      auto& list = lane.positions.emplace_back();
      for (std::size_t p = 0; p < block.ops.size(); ++p)
        if (accept(schedule.op(block.ops[p]))) list.push_back(static_cast<int>(p));
    }
    return lane;
  }

  void add_ranks(std::size_t j) {
    const JobGroups& job = all_.jobs[j];
    for (std::size_t r = 0; r < job.gpu_of_rank.size(); ++r) {
      FoldedRank& folded = problem_.ranks[rank_class(j, Rank(r)).position()];
      if (folded.representative.valid()) {
        ++folded.members;
        continue;
      }
      folded.job = static_cast<int>(j);
      folded.representative = Rank(r);
      folded.gpu = job.gpu_of_rank[r];
      folded.speed = all_.speed[folded.gpu.position()];
      for (std::size_t c = 0; c < job.tables.size(); ++c) {
        const int group = job.tables[c].group_of[r];
        folded.group_of.push_back(group < 0 ? GroupClassId{} : group_class(j, c, group));
      }
      for (std::size_t s = 0; s < job.schedule->streams.size(); ++s)
        folded.lanes.push_back(make_lane(*job.schedule, [&](const Op& op) {
          return op.stream == StreamId(s) && job.takes_part(op, Rank(r));
        }));
    }
  }

  // Whether a group takes part in an op: all its members or none.
  static bool whole_group(const JobGroups& job, const Op& op, std::span<const Rank> members) {
    if (!op.role) return true;
    const auto in = std::count_if(members.begin(), members.end(),
                                  [&](Rank rank) { return job.takes_part(op, rank); });
    if (in != 0 && in != static_cast<std::ptrdiff_t>(members.size()))
      throw InputError(fmt::format(
          "op \"{}\": its role names {} of the {} members of a group; a collective needs all of a "
          "group or none",
          op.name, in, members.size()));
    return in != 0;
  }

  void add_groups(std::size_t j) {
    const JobGroups& job = all_.jobs[j];
    for (std::size_t c = 0; c < job.tables.size(); ++c) {
      for (int g = 0; g < job.tables[c].groups(); ++g) {
        FoldedGroup& folded = problem_.groups[group_class(j, c, g).position()];
        if (folded.communicator.valid()) {
          ++folded.members;
          continue;
        }
        folded.job = static_cast<int>(j);
        folded.communicator = CommId(c);
        folded.representative = g;
        fill_group(j, job.tables[c], folded);
      }
    }
    rows_.clear();
  }

  void fill_group(std::size_t j, const GroupTable& table, FoldedGroup& folded) {
    const JobGroups& job = all_.jobs[j];
    const auto members = table.ranks(folded.representative);
    for (const Rank rank : members) folded.ranks.push_back(rank_class(j, rank));
    std::sort(folded.ranks.begin(), folded.ranks.end());
    folded.ranks.erase(std::unique(folded.ranks.begin(), folded.ranks.end()), folded.ranks.end());
    folded.lane = make_lane(*job.schedule, [&](const Op& op) {
      return op.collective && op.collective->communicator == folded.communicator &&
             whole_group(job, op, members);
    });
    const auto shape =
        static_cast<std::size_t>(table.shape_of[static_cast<std::size_t>(folded.representative)]);
    for (std::size_t o = 0; o < job.schedule->ops.size(); ++o) {
      const Op& op = job.schedule->ops[o];
      const bool mine = op.collective && op.collective->communicator == folded.communicator;
      folded.cost_of.push_back(mine ? static_cast<int>(problem_.costs.size()) : -1);
      if (!mine) continue;
      const OpTraffic& traffic = all_.traffic[j].ops[o][shape];
      problem_.costs.push_back(cost(j, op, traffic, folded));
      const CollectiveEstimate& estimate = traffic.estimate;
      if (j == 0)
        collectives_[op.collective->kind].add(estimate.time, estimate.low, estimate.high,
                                              problem_.jobs[j].program.runs_per_step(OpId(o)));
    }
  }

  CollectiveCost cost(std::size_t j, const Op& op, const OpTraffic& traffic,
                      const FoldedGroup& folded) {
    CollectiveCost result;
    result.op = &op;
    result.instant = traffic.pattern < 0;
    if (result.instant) return result;
    const CollectiveEstimate& estimate = traffic.estimate;
    check_time(op, estimate.time);
    const TrafficPattern& pattern =
        all_.traffic[j].patterns[static_cast<std::size_t>(traffic.pattern)];
    result.algorithm = pattern.algorithm;
    result.pattern = traffic.pattern;
    const auto g = static_cast<std::size_t>(folded.representative);
    result.latency = input_.idealised.latency ? Seconds{} : estimate.latency;
    result.sm_share = estimate.sm_share;
    const Bytes flow = pattern.flow[g] * (op.collective->bytes / pattern.size);
    if (estimate.fluid <= Seconds{} || pattern.loads_of(folded.representative).empty()) {
      result.latency += estimate.fluid;
      return result;
    }
    result.flow = flow;
    result.stretch =
        std::max(1.0, bottleneck(pattern, folded.representative) / (flow / estimate.fluid).value());
    result.loads = row(j, traffic.pattern, folded);
    return result;
  }

  // The rate of the unit flow that the healthy network allows a group that is alone.
  [[nodiscard]] double bottleneck(const TrafficPattern& pattern, int group) const {
    double rate = std::numeric_limits<double>::infinity();
    for (const LinkLoad& load : pattern.loads_of(group))
      rate =
          std::min(rate, all_.network->links()[load.link.position()].capacity.value() / load.load);
    return rate;
  }

  // Row of Problem::loads for a group class and a pattern; all rows of a pattern are made at once.
  int row(std::size_t j, int pattern, const FoldedGroup& folded) {
    auto [entry, is_new] = rows_.try_emplace(pattern);
    std::map<int, int>& rows = entry->second;
    if (is_new) fill_rows(j, all_.traffic[j].patterns[static_cast<std::size_t>(pattern)], rows);
    return rows.at(group_class(j, folded.communicator.position(), folded.representative).index);
  }

  void fill_rows(std::size_t j, const TrafficPattern& pattern, std::map<int, int>& rows) {
    const auto c = pattern.communicator.position();
    for (int g = 0; g < all_.jobs[j].tables[c].groups(); ++g) {
      const auto [entry, is_new] =
          rows.try_emplace(group_class(j, c, g).index, static_cast<int>(problem_.loads.size()));
      if (is_new) problem_.loads.emplace_back();
      auto& loads = problem_.loads[static_cast<std::size_t>(entry->second)];
      for (const LinkLoad& load : pattern.loads_of(g))
        if (representative_[load.link.position()])
          loads.push_back({LinkClassId(partition_.link_class[load.link.position()]), load.load});
    }
    for (const auto& [group, index] : rows) merge(problem_.loads[static_cast<std::size_t>(index)]);
  }

  static void merge(std::vector<ClassLoad>& loads) {
    std::stable_sort(loads.begin(), loads.end(),
                     [](const ClassLoad& a, const ClassLoad& b) { return a.link < b.link; });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < loads.size(); ++i) {
      if (kept > 0 && loads[kept - 1].link == loads[i].link)
        loads[kept - 1].load += loads[i].load;
      else
        loads[kept++] = loads[i];
    }
    loads.resize(kept);
  }

  const ReplayInput& input_;
  const Unfolded& all_;
  const Partition& partition_;
  Problem problem_;
  Spread kernels_;
  std::array<double, 3> time_by_range_{};  // of the main job's kernels
  std::map<CollectiveKind, Spread> collectives_;
  std::vector<char> representative_;        // by link
  std::map<int, std::map<int, int>> rows_;  // of the current job: pattern, group class
};

}  // namespace

Problem build_problem(const ReplayInput& input, const Unfolded& unfolded,
                      const Partition& partition) {
  return Builder(input, unfolded, partition).build();
}

}  // namespace amsp
