// SPDX-License-Identifier: Apache-2.0
// The engine `fluid`: an event heap over tasks whose rates change when something that they share
// starts or ends.
#include <algorithm>
#include <cassert>
#include <queue>

#include "sim/engine.hpp"
#include "sim/fair_share.hpp"

namespace amsp {
namespace {

enum class Kind { idle, computing, latency, fluid };

struct Task {
  Kind kind = Kind::idle;
  int place = -1;  // rank or group class
  const CollectiveCost* cost = nullptr;
  double stretch = 1;
  double total = 0;      // seconds or bytes
  double remaining = 0;  // at `since`
  double rate = 0;
  double since = 0;
  std::uint32_t version = 0;  // of its valid event
};

struct Event {
  double time;
  int task;
  std::uint32_t version;
  bool operator<(const Event& other) const {  // earliest first, then lowest task
    return time != other.time ? time > other.time : task > other.task;
  }
};

class FluidEngine final : public Engine {
 public:
  explicit FluidEngine(const Problem& problem)
      : problem_(problem),
        shares_(problem.links, problem.groups.size()),
        ranks_(problem.ranks.size()),
        task_of_group_(problem.groups.size(), -1),
        carried_(problem.links.size()) {}

  [[nodiscard]] Seconds now() const override { return Seconds(now_); }
  [[nodiscard]] std::int64_t events() const override { return events_; }
  [[nodiscard]] std::vector<Bytes> carried() const override { return carried_; }

  void start_compute(TaskId id, RankClassId rank, Seconds work) override {
    Task& task = fresh(id, Kind::computing, rank.index);
    task.total = task.remaining = work.value();
    ranks_[rank.position()].computing.push_back(id.index);
    pace_rank(rank.index);
  }

  void start_collective(TaskId id, GroupClassId group, const CollectiveCost& cost,
                        double jitter) override {
    Task& task = fresh(id, Kind::latency, group.index);
    task.cost = &cost;
    task.stretch = cost.stretch * jitter;
    if (cost.latency > Seconds{} || cost.flow <= Bytes{}) {  // without flow there are no loads
      task.total = task.remaining = cost.latency.value();
      set_rate(id.index, 1);
    } else {
      begin_fluid(id.index);
    }
  }

  void run(const Finished& finished) override {
    std::vector<TaskId> done;
    while (true) {
      pace_flows();
      drop_stale();
      if (heap_.empty()) return;
      now_ = heap_.top().time;
      ++events_;
      done.clear();
      while (!heap_.empty() && heap_.top().time <= now_ * (1 + same_instant)) {
        const int id = heap_.top().task;
        heap_.pop();
        end_phase(id, done);
        drop_stale();
      }
      if (!done.empty()) finished(done);
    }
  }

  [[nodiscard]] std::optional<std::vector<TaskProgress>> progress() const override {
    std::vector<TaskProgress> all;
    for (std::size_t id = 0; id < tasks_.size(); ++id) {
      const Task& task = tasks_[id];
      if (task.kind == Kind::idle) continue;
      const double left = task.remaining - task.rate * (now_ - task.since);
      const int phase = task.kind == Kind::computing ? 0 : task.kind == Kind::latency ? 1 : 2;
      all.push_back({TaskId(id), phase, left / task.total});
    }
    return all;
  }

 private:
  // Events closer than a few units in the last place differ by rounding only.
  static constexpr double same_instant = 2e-15;

  struct RankState {
    std::vector<int> computing;                // tasks
    std::vector<std::pair<int, double>> held;  // group class, share of SMs
  };

  Task& fresh(TaskId id, Kind kind, int place) {
    if (id.position() >= tasks_.size()) tasks_.resize(id.position() + 1);
    Task& task = tasks_[id.position()];
    assert(task.kind == Kind::idle);
    const std::uint32_t version = task.version;
    task = Task{};
    task.version = version;
    task.kind = kind;
    task.place = place;
    task.since = now_;
    return task;
  }

  void set_rate(int id, double rate) {
    Task& task = tasks_[static_cast<std::size_t>(id)];
    if (rate == task.rate) return;
    task.remaining = std::max(0.0, task.remaining - task.rate * (now_ - task.since));
    task.since = now_;
    task.rate = rate;
    heap_.push({now_ + task.remaining / rate, id, ++task.version});
  }

  void drop_stale() {
    while (!heap_.empty() &&
           tasks_[static_cast<std::size_t>(heap_.top().task)].version != heap_.top().version)
      heap_.pop();
  }

  void pace_rank(int rank) {
    const RankState& state = ranks_[static_cast<std::size_t>(rank)];
    if (state.computing.empty()) return;
    double free = 1;
    for (const auto& [group, share] : state.held) free -= share;
    const double rate =
        std::max(slowest_compute, free) / static_cast<double>(state.computing.size());
    for (const int id : state.computing) set_rate(id, rate);
  }

  void pace_flows() {
    changed_.clear();
    shares_.solve(changed_);
    for (const GroupClassId group : changed_)
      set_rate(task_of_group_[group.position()], shares_.rate(group).value());
  }

  void begin_fluid(int id) {
    Task& task = tasks_[static_cast<std::size_t>(id)];
    const CollectiveCost& cost = *task.cost;
    task.kind = Kind::fluid;
    task.total = task.remaining = cost.flow.value();
    task.rate = 0;
    task.since = now_;
    const GroupClassId group(task.place);
    task_of_group_[group.position()] = id;
    shares_.add(group, problem_.loads[static_cast<std::size_t>(cost.loads)], task.stretch);
    for (const RankClassId rank : problem_.groups[group.position()].ranks) {
      ranks_[rank.position()].held.emplace_back(group.index, cost.sm_share);
      pace_rank(rank.index);
    }
  }

  void end_fluid(const Task& task) {
    const GroupClassId group(task.place);
    shares_.remove(group);
    for (const ClassLoad& load : problem_.loads[static_cast<std::size_t>(task.cost->loads)])
      carried_[load.link.position()] += Bytes(load.load * task.total);
    for (const RankClassId rank : problem_.groups[group.position()].ranks) {
      auto& held = ranks_[rank.position()].held;
      held.erase(std::find_if(held.begin(), held.end(),
                              [&](const auto& entry) { return entry.first == group.index; }));
      pace_rank(rank.index);
    }
  }

  void end_phase(int id, std::vector<TaskId>& done) {
    Task& task = tasks_[static_cast<std::size_t>(id)];
    ++task.version;
    if (task.kind == Kind::latency && task.cost->flow > Bytes{}) {
      begin_fluid(id);
      return;
    }
    const Kind kind = task.kind;
    task.kind = Kind::idle;
    if (kind == Kind::computing) {
      auto& computing = ranks_[static_cast<std::size_t>(task.place)].computing;
      computing.erase(std::find(computing.begin(), computing.end(), id));
      pace_rank(task.place);
    } else if (kind == Kind::fluid) {
      end_fluid(task);
    }
    done.emplace_back(id);
  }

  const Problem& problem_;
  FairShare shares_;
  std::vector<Task> tasks_;
  std::vector<RankState> ranks_;
  std::vector<int> task_of_group_;
  std::vector<Bytes> carried_;
  std::vector<GroupClassId> changed_;
  std::priority_queue<Event> heap_;
  double now_ = 0;
  std::int64_t events_ = 0;
};

}  // namespace

std::unique_ptr<Engine> make_fluid_engine(const Problem& problem) {
  return std::make_unique<FluidEngine>(problem);
}

}  // namespace amsp
