// SPDX-License-Identifier: Apache-2.0
// No actors: SimGrid's maestro calls back when an activity or a timer ends, and the replay starts
// the next ones from there.
//
// A parallel task scans the square of its hosts and takes the same bytes from every link of a
// route, so that a group gets private hosts: one pair for each distinct load, with the links of
// that load as their route.
#include "sim/simgrid_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <map>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>

namespace amsp {
namespace {

namespace sg = simgrid::s4u;

// Hosts compute this much in a second, so that amounts are not tiny beside SimGrid's precision.
constexpr double host_speed = 1e9;

struct FlowHosts {
  std::vector<sg::Host*> hosts;  // sender, receiver, sender, receiver, …
  std::vector<double> loads;     // of each pair
};

class SimgridEngine final : public Engine {
 public:
  explicit SimgridEngine(const Problem& problem)
      : problem_(problem), ranks_(problem.ranks.size()), carried_(problem.links.size()) {
    std::array<std::string, 5> arguments{"amsp", "--log=root.thres:critical",
                                         "--cfg=host/model:ptask_L07", "--cfg=surf/precision:1e-12",
                                         "--cfg=maxmin/precision:1e-12"};
    std::array<char*, 6> argv{};
    for (std::size_t i = 0; i < arguments.size(); ++i) argv[i] = arguments[i].data();
    int argc = static_cast<int>(arguments.size());
    engine_ = std::make_unique<sg::Engine>(&argc, argv.data());
    build_platform();
    sg::Activity::on_completion_cb([this](const sg::Activity& activity) { completed(activity); });
  }

  [[nodiscard]] Seconds now() const override { return Seconds(sg::Engine::get_clock()); }
  [[nodiscard]] std::int64_t events() const override { return events_; }
  [[nodiscard]] std::vector<Bytes> carried() const override { return carried_; }
  [[nodiscard]] std::optional<std::vector<TaskProgress>> progress() const override { return {}; }

  void start_compute(TaskId id, RankClassId rank, Seconds work) override {
    Task& task = fresh(id, rank.index);
    task.left = work.value();
    ranks_[rank.position()].computing.push_back(id.index);
    execute(id.index);
  }

  void start_collective(TaskId id, GroupClassId group, const CollectiveCost& cost,
                        double jitter) override {
    Task& task = fresh(id, group.index);
    task.cost = &cost;
    task.stretch = cost.stretch * jitter;
    if (cost.latency > Seconds{})
      simgrid::kernel::timer::Timer::set(sg::Engine::get_clock() + cost.latency.value(),
                                         [this, id] { after_latency(id); });
    else
      begin_fluid(id);
  }

  void run(const Finished& finished) override {
    finished_ = &finished;
    engine_->run();
    finished_ = nullptr;
  }

 private:
  struct Task {
    int place = -1;  // rank or group class
    const CollectiveCost* cost = nullptr;
    double stretch = 1;
    double left = 0;  // seconds of computation at the start of `exec`, which runs at `pace`
    double pace = 1;
    sg::ExecPtr exec;
  };
  struct RankState {
    sg::Host* host = nullptr;
    std::vector<int> computing;
    std::vector<std::pair<int, double>> held;  // group class, share of SMs
  };

  void build_platform() {
    auto* root = sg::create_empty_zone("cluster");
    auto* gpus = sg::create_empty_zone("gpus");
    gpus->set_parent(root);
    for (std::size_t r = 0; r < ranks_.size(); ++r)
      ranks_[r].host = gpus->create_host(fmt::format("rank{}", r), host_speed);
    gpus->seal();
    std::vector<sg::Link*> links;
    for (std::size_t l = 0; l < problem_.links.size(); ++l)
      links.push_back(
          root->create_link(fmt::format("link{}", l), problem_.links[l].capacity.value())
              ->set_latency(0)
              ->seal());
    flows_.resize(problem_.loads.size());
    std::vector<char> built(problem_.loads.size());
    for (std::size_t g = 0; g < problem_.groups.size(); ++g) {
      sg::NetZone* zone = nullptr;
      for (const int index : problem_.groups[g].cost_of) {
        if (index < 0 || problem_.costs[static_cast<std::size_t>(index)].loads < 0) continue;
        const auto row =
            static_cast<std::size_t>(problem_.costs[static_cast<std::size_t>(index)].loads);
        if (built[row]) continue;
        built[row] = 1;
        if (!zone) {
          zone = sg::create_full_zone(fmt::format("group{}", g));
          zone->set_parent(root);
        }
        flows_[row] = make_hosts(*zone, row, links);
      }
      if (zone) zone->seal();
    }
    root->seal();
  }

  FlowHosts make_hosts(sg::NetZone& zone, std::size_t row, const std::vector<sg::Link*>& links) {
    std::map<double, std::vector<sg::LinkInRoute>> routes;
    for (const ClassLoad& load : problem_.loads[row])
      routes[load.load].emplace_back(links[load.link.position()]);
    FlowHosts flow;
    for (const auto& [load, route] : routes) {
      const std::string name = fmt::format("flow{}-{}", row, flow.loads.size());
      sg::Host* from = zone.create_host(name + "-from", host_speed);
      sg::Host* to = zone.create_host(name + "-to", host_speed);
      zone.add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr, route, false);
      flow.hosts.insert(flow.hosts.end(), {from, to});
      flow.loads.push_back(load);
    }
    return flow;
  }

  Task& fresh(TaskId id, int place) {
    if (id.position() >= tasks_.size()) tasks_.resize(id.position() + 1);
    Task& task = tasks_[id.position()];
    task = Task{};
    task.place = place;
    return task;
  }

  [[nodiscard]] double pace(int rank) const {
    double free = 1;
    for (const auto& [group, share] : ranks_[static_cast<std::size_t>(rank)].held) free -= share;
    return std::max(slowest_compute, free);
  }

  void start(int id, const sg::ExecPtr& exec) {
    exec->set_name(fmt::format("{}", id));
    exec->set_data(reinterpret_cast<void*>(static_cast<std::intptr_t>(id)));
    tasks_[static_cast<std::size_t>(id)].exec = exec;
    exec->start();
  }

  // SimGrid still uses an activity after it said that it is complete (in the next round of the
  // maestro, for a cancelled one): it is kept until the clock has moved twice.
  void retire(Task& task) {
    const double clock = sg::Engine::get_clock();
    if (clock > retired_at_) {
      retired_before_.swap(retired_);
      retired_.clear();
    }
    retired_at_ = clock;
    retired_.push_back(std::move(task.exec));
    task.exec = nullptr;
  }

  void execute(int id) {
    Task& task = tasks_[static_cast<std::size_t>(id)];
    task.pace = pace(task.place);
    const sg::ExecPtr exec = sg::Exec::init();
    exec->set_flops_amount(task.left * host_speed / task.pace);
    exec->set_host(ranks_[static_cast<std::size_t>(task.place)].host);
    start(id, exec);
  }

  // Who holds SMs of a rank's GPU has changed. SimGrid cannot change the speed of one task: what is
  // left starts anew at the new pace. In a timer, because a task that is cancelled in a completion
  // keeps its share of the host until the clock moves.
  void repace_later(int rank) {
    if (to_repace_.empty())
      simgrid::kernel::timer::Timer::set(sg::Engine::get_clock(), [this] { repace(); });
    to_repace_.push_back(rank);
  }

  void repace() {
    std::vector<int> ranks;
    ranks.swap(to_repace_);
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    for (const int rank : ranks) {
      for (const int id : ranks_[static_cast<std::size_t>(rank)].computing) {
        Task& task = tasks_[static_cast<std::size_t>(id)];
        if (task.pace == pace(rank)) continue;
        const sg::ExecPtr exec = task.exec;
        task.left *= exec->get_remaining();  // ptask_L07 counts in shares of the task
        retire(task);                        // its completion is not one of the task
        exec->cancel();
        execute(id);
      }
    }
  }

  void after_latency(TaskId id) {
    if (tasks_[id.position()].cost->flow > Bytes{})
      begin_fluid(id);
    else
      report(id);
  }

  void begin_fluid(TaskId id) {
    const Task& task = tasks_[id.position()];
    const FlowHosts& flow = flows_[static_cast<std::size_t>(task.cost->loads)];
    const std::size_t n = flow.hosts.size();
    std::vector<double> bytes(n * n);
    for (std::size_t pair = 0; pair < flow.loads.size(); ++pair)
      bytes[2 * pair * n + 2 * pair + 1] =
          task.cost->flow.value() * flow.loads[pair] * task.stretch;
    const sg::ExecPtr exec = sg::Exec::init();
    exec->set_flops_amounts(std::vector<double>(n))->set_bytes_amounts(bytes);
    exec->set_hosts(flow.hosts);
    start(id.index, exec);
    const GroupClassId group(task.place);
    for (const RankClassId rank : problem_.groups[group.position()].ranks) {
      ranks_[rank.position()].held.emplace_back(group.index, task.cost->sm_share);
      repace_later(rank.index);
    }
  }

  void end_fluid(const Task& task) {
    for (const ClassLoad& load : problem_.loads[static_cast<std::size_t>(task.cost->loads)])
      carried_[load.link.position()] += task.cost->flow * load.load;
    const GroupClassId group(task.place);
    for (const RankClassId rank : problem_.groups[group.position()].ranks) {
      auto& held = ranks_[rank.position()].held;
      held.erase(std::find_if(held.begin(), held.end(),
                              [&](const auto& entry) { return entry.first == group.index; }));
      repace_later(rank.index);
    }
  }

  void completed(const sg::Activity& activity) {
    const auto id = static_cast<int>(reinterpret_cast<std::intptr_t>(
        const_cast<sg::Exec&>(static_cast<const sg::Exec&>(activity)).get_data<void>()));
    Task& task = tasks_[static_cast<std::size_t>(id)];
    if (task.exec.get() != &activity) return;  // cancelled, and started anew
    retire(task);
    if (task.cost) {
      end_fluid(task);
    } else {
      auto& computing = ranks_[static_cast<std::size_t>(task.place)].computing;
      computing.erase(std::find(computing.begin(), computing.end(), id));
    }
    report(TaskId(id));
  }

  void report(TaskId id) {
    ++events_;
    (*finished_)(std::span(&id, 1));
  }

  const Problem& problem_;
  std::unique_ptr<sg::Engine> engine_;
  std::vector<RankState> ranks_;
  std::vector<Task> tasks_;
  std::vector<FlowHosts> flows_;  // by row of loads
  std::vector<Bytes> carried_;
  std::vector<sg::ExecPtr> retired_, retired_before_;
  double retired_at_ = 0;
  std::vector<int> to_repace_;  // ranks
  const Finished* finished_ = nullptr;
  std::int64_t events_ = 0;
};

}  // namespace

std::unique_ptr<Engine> make_simgrid_engine(const Problem& problem) {
  return std::make_unique<SimgridEngine>(problem);
}

}  // namespace amsp
