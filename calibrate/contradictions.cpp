// SPDX-License-Identifier: Apache-2.0
#include "calibrate/contradictions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "base/median.hpp"
#include "base/units_text.hpp"
#include "calibrate/measured_scatter.hpp"

namespace amsp {
namespace {

// Settings of one machine (TCP or RDMA, with or without GPUDirect) differ by more; the A800's own
// tables of two months differ by 1.5 at most.
const double kContradiction = std::log(2.0);
constexpr std::size_t kFewestSizes = 3;  // one or two sizes may be two stalls
// Scales that fit one run this much better than the other tell which is right: busbw moves by that
// much from one scale to the next on a network that is not oversubscribed.
const double kClearlyBetter = std::log(1.25);

using Forced = std::pair<std::optional<Algorithm>, std::optional<Protocol>>;
using Setting = std::tuple<CollectiveKind, GroupShape, Forced>;

struct Point {
  double log_time = 0;  // mean over the run's times of this size
  int times = 0;
  double bytes = 0;
};

struct Run {
  int number = 0;
  std::string file, first, last;  // places
  std::map<long, Point> by_size;  // 33554400 and 33554432 bytes are one size
  double bus = 1;                 // bus bandwidth / (bytes / time)
  [[nodiscard]] std::string place() const {
    return first == last ? first : fmt::format("{} to {}", first, last);
  }
  [[nodiscard]] std::string name() const { return fmt::format("{} {}", file, place()); }
};

using Runs = std::map<Setting, std::vector<Run>>;

Setting setting_of(const Observation& row) {
  return {row.kind, row.shape, {row.forced_algorithm, row.forced_protocol}};
}

bool is_large(const Point& point) { return point.bytes >= 0.99 * large_size.value(); }

Runs runs_of(const std::vector<Observation>& rows) {
  Runs all;
  for (const Observation& row : rows) {
    std::vector<Run>& runs = all[setting_of(row)];
    auto run = std::find_if(runs.begin(), runs.end(), [&](const Run& known) {
      return known.number == row.run && known.file == row.source;
    });
    if (run == runs.end()) {
      runs.push_back(
          {row.run, row.source, row.place, "", {}, bus_factor(row.kind, row.shape.ranks)});
      run = std::prev(runs.end());
    }
    run->last = row.place;
    Point& point = run->by_size[size_class(row)];
    point.log_time =
        (point.log_time * point.times + std::log(row.time.value())) / (point.times + 1);
    ++point.times;
    point.bytes = row.bytes.value();
  }
  for (auto& [setting, runs] : all)  // the order of the files decides nothing
    std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) {
      return std::tie(a.file, a.number) < std::tie(b.file, b.number);
    });
  return all;
}

// Median of log(time of a / time of b) over the common sizes from 16 MiB, or where these are too
// few over all; nothing where those are too few, too.
struct Ratio {
  double log_ratio = 0;
  std::size_t sizes = 0;
  bool large = false;
};
std::optional<Ratio> ratio_of(const Run& a, const Run& b) {
  std::vector<double> large, all;
  for (const auto& [size, point] : a.by_size) {
    const auto other = b.by_size.find(size);
    if (other == b.by_size.end()) continue;
    all.push_back(point.log_time - other->second.log_time);
    if (is_large(point)) large.push_back(all.back());
  }
  const std::vector<double>& used = large.size() >= kFewestSizes ? large : all;
  if (used.size() < kFewestSizes) return std::nullopt;
  return Ratio{median(used), used.size(), &used == &large};
}

bool contradict(const Run& a, const Run& b) {
  const auto ratio = ratio_of(a, b);
  return ratio && std::abs(ratio->log_ratio) >= kContradiction;
}

// log(bus bandwidth of a / that of b), median over the common sizes; nothing without any.
std::optional<double> bus_difference(const Run& a, const Run& b) {
  const auto ratio = ratio_of(a, b);
  if (!ratio) return std::nullopt;
  return std::log(a.bus / b.bus) - ratio->log_ratio;
}

class Judge {
 public:
  explicit Judge(const Runs& all) : all_(all) {}

  // Why `a` is believed rather than `b`; "" when it is not.
  [[nodiscard]] std::string better(const Setting& setting, const Run& a, const Run& b) const {
    const std::size_t for_a = support(setting, a), for_b = support(setting, b);
    if (for_a != for_b)
      return for_a > for_b
                 ? fmt::format("{} other run{} with it", for_a, for_a == 1 ? " agrees" : "s agree")
                 : "";
    const auto off_a = off_scale(setting, a), off_b = off_scale(setting, b);
    if (off_a && off_b && std::abs(*off_a - *off_b) >= kClearlyBetter)
      return *off_a < *off_b ? "the bandwidth at other scales agrees with it" : "";
    const auto ratio = ratio_of(a, b);
    return ratio && ratio->log_ratio < 0 ? "the faster is taken" : "";
  }

 private:
  [[nodiscard]] std::size_t support(const Setting& setting, const Run& run) const {
    const std::vector<Run>& runs = all_.at(setting);
    return static_cast<std::size_t>(std::count_if(runs.begin(), runs.end(), [&](const Run& other) {
      return &other != &run && ratio_of(run, other) && !contradict(run, other);
    }));
  }

  // How far the bus bandwidth is from that of the next smaller and the next greater scale.
  [[nodiscard]] std::optional<double> off_scale(const Setting& setting, const Run& run) const {
    const auto& [kind, shape, forced] = setting;
    std::map<int, double> nearest;  // by ranks: the least difference to any run
    for (const auto& [other, runs] : all_) {
      const GroupShape& theirs = std::get<GroupShape>(other);
      const bool alike =
          std::get<CollectiveKind>(other) == kind && std::get<Forced>(other) == forced &&
          theirs.ranks != shape.ranks && theirs.ranks_per_node == shape.ranks_per_node &&
          theirs.nics_per_node == shape.nics_per_node && (theirs.nodes > 1) == (shape.nodes > 1);
      if (!alike) continue;
      for (const Run& neighbour : runs)
        if (const auto off = bus_difference(run, neighbour)) {
          const auto [entry, is_new] = nearest.try_emplace(theirs.ranks, std::abs(*off));
          entry->second = std::min(entry->second, std::abs(*off));
        }
    }
    const auto above = nearest.upper_bound(shape.ranks);
    std::optional<double> below;
    if (above != nearest.begin()) below = std::prev(above)->second;
    if (above == nearest.end()) return below;
    return below ? (*below + above->second) / 2 : above->second;
  }

  const Runs& all_;
};

class Settler {
 public:
  explicit Settler(Observations& all) : all_(all), runs_(runs_of(all.rows)), judge_(runs_) {}

  void settle() {
    for (const auto& [setting, runs] : runs_) {
      std::vector<const Run*> left;
      for (const Run& run : runs) left.push_back(&run);
      drop_runs(setting, left);
      drop_points(setting, left);
    }
    warn();
    std::erase_if(all_.rows, [&](const Observation& row) {
      const Setting setting = setting_of(row);
      return dropped_runs_.contains({setting, row.source, row.run}) ||
             dropped_points_.contains({setting, row.source, row.run, size_class(row)});
    });
  }

 private:
  void warn() {
    constexpr std::size_t kMostNamed = 10;
    const std::size_t named = std::min(kMostNamed, warnings_.size());
    all_.warnings.insert(all_.warnings.end(), warnings_.begin(),
                         warnings_.begin() + static_cast<std::ptrdiff_t>(named));
    if (warnings_.size() > named)
      all_.warnings.push_back(fmt::format("{} more contradictions: see what the report refuses",
                                          warnings_.size() - named));
  }

  // Of each pair that contradicts each other the worse one.
  void drop_runs(const Setting& setting, std::vector<const Run*>& left) {
    for (std::size_t i = 0; i < left.size(); ++i)
      for (std::size_t j = i + 1; j < left.size() && left[i] != nullptr; ++j) {
        if (left[j] == nullptr || !contradict(*left[i], *left[j])) continue;
        const std::string why = judge_.better(setting, *left[i], *left[j]);
        const std::size_t worse = why.empty() ? i : j, kept = why.empty() ? j : i;
        refuse(setting, *left[worse], *left[kept],
               why.empty() ? judge_.better(setting, *left[j], *left[i]) : why);
        left[worse] = nullptr;
      }
    std::erase(left, nullptr);
  }

  void refuse(const Setting& setting, const Run& run, const Run& kept, const std::string& why) {
    const Ratio ratio = *ratio_of(run, kept);
    const std::string reason = fmt::format(
        "contradicts {}: times {} by a factor of {:.3g} (median of {} sizes{}); {}", kept.name(),
        ratio.log_ratio > 0 ? "longer" : "shorter", std::exp(std::abs(ratio.log_ratio)),
        ratio.sizes, ratio.large ? " from 16 MiB" : "", why);
    const auto& [kind, shape, forced] = setting;
    all_.refused.push_back({run.file, run.place(), reason});
    warnings_.push_back(
        fmt::format("contradiction: {} over {} ranks, {}: not used, {}; if it is another machine "
                    "or setting, calibrate from it alone",
                    name_of(kind), shape.ranks, run.name(), reason));
    dropped_runs_.insert({setting, run.file, run.number});
  }

  // Single sizes of runs that agree otherwise, or have too few in common to be judged as a whole.
  void drop_points(const Setting& setting, const std::vector<const Run*>& left) {
    std::map<long, std::vector<std::pair<double, const Run*>>> by_size;
    for (const Run* run : left)
      for (const auto& [size, point] : run->by_size)
        if (is_large(point) || alone_at(size, *run, left))
          by_size[size].emplace_back(point.log_time, run);
    for (auto& [size, times] : by_size) {
      std::stable_sort(times.begin(), times.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
      // One alone against several that agree is wrong also when it is the fastest.
      const bool alone = times.size() > 2 && times[1].first - times[0].first >= kContradiction &&
                         times.back().first - times[1].first < kContradiction;
      const auto& [believed, by] = times[alone ? 1 : 0];
      for (const auto& [time, run] : times)
        if (std::abs(time - believed) >= kContradiction)
          refuse(setting, size, *run, *by, time - believed);
    }
  }

  // Small sizes scatter, so they are judged one by one only where no other size tells of the runs.
  static bool alone_at(long size, const Run& run, const std::vector<const Run*>& left) {
    return std::any_of(left.begin(), left.end(), [&](const Run* other) {
      return other != &run && other->by_size.contains(size) && !ratio_of(run, *other);
    });
  }

  void refuse(const Setting& setting, long size, const Run& run, const Run& kept, double ratio) {
    const auto& [kind, shape, forced] = setting;
    const std::string what = fmt::format("{} over {} ranks of {}", name_of(kind), shape.ranks,
                                         human(Bytes(run.by_size.at(size).bytes)));
    const std::string reason =
        fmt::format("contradicts {}{}: {} by a factor of {:.3g}", kept.name(),
                    ratio_of(run, kept) ? ", which it agrees with elsewhere" : "",
                    ratio > 0 ? "longer" : "shorter", std::exp(std::abs(ratio)));
    for (const Observation& row : all_.rows)
      if (row.source == run.file && row.run == run.number && setting_of(row) == setting &&
          size_class(row) == size)
        if (all_.refused.empty() || all_.refused.back().file != row.source ||
            all_.refused.back().place != row.place)
          all_.refused.push_back({row.source, row.place, reason});
    warnings_.push_back(fmt::format("contradiction: {}: {}: not used, {}", run.file, what, reason));
    dropped_points_.insert({setting, run.file, run.number, size});
  }

  Observations& all_;
  const Runs runs_;
  const Judge judge_;
  std::vector<std::string> warnings_;
  std::set<std::tuple<Setting, std::string, int>> dropped_runs_;
  std::set<std::tuple<Setting, std::string, int, long>> dropped_points_;
};

}  // namespace

void settle_contradictions(Observations& all) { Settler(all).settle(); }

}  // namespace amsp
