// SPDX-License-Identifier: Apache-2.0
// No actors: SimGrid's maestro calls back when an activity or a timer ends, and the replay starts
// the next ones from there.
#include "sim/simgrid_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>

#include "sim/simgrid_keeper.hpp"

namespace amsp {
namespace {

namespace sg = simgrid::s4u;
using simgrid::kernel::timer::Timer;

// Hosts compute this much in a second, so that amounts are not tiny beside SimGrid's precision.
constexpr double host_speed = 1e9;

class SimgridEngine final : public Engine {
 public:
  SimgridEngine(const Problem& problem, std::unique_ptr<SimgridTransfers> transfers)
      : problem_(problem),
        transfers_(std::move(transfers)),
        ranks_(problem.ranks.size()),
        carried_(problem.links.size()) {
    std::vector<std::string> arguments{"amsp", "--log=root.thres:critical",
                                       "--cfg=surf/precision:1e-12"};
    for (std::string& argument : transfers_->configuration())
      arguments.push_back(std::move(argument));
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    int argc = static_cast<int>(argv.size());
    argv.push_back(nullptr);
    engine_ = std::make_unique<sg::Engine>(&argc, argv.data());
    build_platform();
    transfers_->on_end([this](TaskId id) { end_fluid(id); });
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
    if (cost.latency > Seconds{} || cost.flow <= Bytes{})  // without flow there are no loads
      Timer::set(sg::Engine::get_clock() + cost.latency.value(), [this, id] { after_latency(id); });
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
    transfers_->build(*root, links);
    root->seal();
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

  void execute(int id) {
    Task& task = tasks_[static_cast<std::size_t>(id)];
    task.pace = pace(task.place);
    const sg::ExecPtr exec = sg::Exec::init();
    exec->set_flops_amount(task.left * host_speed / task.pace);
    exec->set_host(ranks_[static_cast<std::size_t>(task.place)].host);
    exec->set_data(reinterpret_cast<void*>(static_cast<std::intptr_t>(id)));
    task.exec = exec;
    exec->start();
  }

  // Who holds SMs of a rank's GPU has changed. SimGrid cannot change the speed of one task: what is
  // left starts anew at the new pace. In a timer, because a task that is cancelled in a completion
  // keeps its share of the host until the clock moves.
  void repace_later(int rank) {
    if (to_repace_.empty()) Timer::set(sg::Engine::get_clock(), [this] { repace(); });
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
        task.left *= remaining_share(task);
        const sg::ExecPtr exec = std::move(task.exec);
        task.exec = nullptr;  // its completion is not one of the task
        keeper_.keep(exec);
        exec->cancel();
        execute(id);
      }
    }
  }

  [[nodiscard]] double remaining_share(const Task& task) const {
    const double remaining = task.exec->get_remaining();
    return transfers_->remaining_in_shares() ? remaining
                                             : remaining * task.pace / (task.left * host_speed);
  }

  void after_latency(TaskId id) {
    if (tasks_[id.position()].cost->flow > Bytes{})
      begin_fluid(id);
    else
      report(id);
  }

  void begin_fluid(TaskId id) {
    const Task& task = tasks_[id.position()];
    transfers_->start(id, *task.cost, task.stretch);
    for (const RankClassId rank : problem_.groups[static_cast<std::size_t>(task.place)].ranks) {
      ranks_[rank.position()].held.emplace_back(task.place, task.cost->sm_share);
      repace_later(rank.index);
    }
  }

  void end_fluid(TaskId id) {
    const Task& task = tasks_[id.position()];
    for (const ClassLoad& load : problem_.loads[static_cast<std::size_t>(task.cost->loads)])
      carried_[load.link.position()] += task.cost->flow * load.load;
    for (const RankClassId rank : problem_.groups[static_cast<std::size_t>(task.place)].ranks) {
      auto& held = ranks_[rank.position()].held;
      held.erase(std::find_if(held.begin(), held.end(),
                              [&](const auto& entry) { return entry.first == task.place; }));
      repace_later(rank.index);
    }
    report(id);
  }

  void completed(const sg::Activity& activity) {
    if (transfers_->completed(activity)) return;
    const auto id = static_cast<int>(reinterpret_cast<std::intptr_t>(
        const_cast<sg::Exec&>(static_cast<const sg::Exec&>(activity)).get_data<void>()));
    Task& task = tasks_[static_cast<std::size_t>(id)];
    if (task.exec.get() != &activity) return;  // cancelled, and started anew
    keeper_.keep(task.exec);
    task.exec = nullptr;
    auto& computing = ranks_[static_cast<std::size_t>(task.place)].computing;
    computing.erase(std::find(computing.begin(), computing.end(), id));
    report(TaskId(id));
  }

  void report(TaskId id) {
    ++events_;
    (*finished_)(std::span(&id, 1));
  }

  const Problem& problem_;
  std::unique_ptr<SimgridTransfers> transfers_;
  std::unique_ptr<sg::Engine> engine_;
  std::vector<RankState> ranks_;
  std::vector<Task> tasks_;
  std::vector<Bytes> carried_;
  std::vector<int> to_repace_;
  SimgridKeeper keeper_;
  const Finished* finished_ = nullptr;
  std::int64_t events_ = 0;
};

}  // namespace

std::unique_ptr<Engine> make_simgrid_engine(const Problem& problem,
                                            std::unique_ptr<SimgridTransfers> transfers) {
  return std::make_unique<SimgridEngine>(problem, std::move(transfers));
}

}  // namespace amsp
