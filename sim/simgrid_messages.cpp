// SPDX-License-Identifier: Apache-2.0
// Every step of a ring or tree as a communication. A message starts when its sender has received
// what came to it in the last earlier step of the channel, and has sent what it sent before. The
// latency of the collective is one timer before all messages, as in the other engines, and links
// have none, so that both modes share the calibrated latency.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <simgrid/s4u.hpp>

#include "base/error.hpp"
#include "sim/simgrid_keeper.hpp"
#include "sim/simgrid_transfers.hpp"

namespace amsp {
namespace {

namespace sg = simgrid::s4u;

struct PlannedMessage {
  Bytes bytes;
  std::size_t route;      // index of its host pair
  std::vector<int> next;  // messages that wait for this one
  int waits_for = 0;
};
using Plan = std::vector<PlannedMessage>;

class Messages final : public SimgridTransfers {
 public:
  Messages(const Problem& problem, const Unfolded& all) : problem_(problem) {
    plans_.resize(problem.costs.size());
    for (const FoldedGroup& group : problem.groups)
      for (const int index : group.cost_of) {
        if (index < 0) continue;
        const CollectiveCost& cost = problem.costs[static_cast<std::size_t>(index)];
        if (cost.flow > Bytes{}) plans_[static_cast<std::size_t>(index)] = plan(all, group, cost);
      }
  }

  [[nodiscard]] std::vector<std::string> configuration() const override {
    // Plain max-min sharing of links: no TCP window, no factors, no reverse traffic.
    return {"--cfg=network/model:CM02",       "--cfg=network/TCP-gamma:0",
            "--cfg=network/crosstraffic:0",   "--cfg=network/weight-S:0",
            "--cfg=network/latency-factor:1", "--cfg=network/bandwidth-factor:1",
            "--cfg=maxmin/precision:1e-12"};
  }

  [[nodiscard]] bool remaining_in_shares() const override { return false; }

  void build(sg::NetZone& root, const std::vector<sg::Link*>& links) override {
    std::vector<sg::Link*> by_id;
    for (std::size_t l = 0; l < links.size(); ++l) {
      const std::size_t id = problem_.links[l].representative.position();
      if (by_id.size() <= id) by_id.resize(id + 1);
      by_id[id] = links[l];
    }
    pairs_.resize(routes_.size());
    for (const auto& [route, index] : routes_) {
      sg::NetZone* zone = sg::create_full_zone(fmt::format("route{}", index));
      zone->set_parent(&root);
      sg::Host* from = zone->create_host(fmt::format("from{}", index), 1.0);
      sg::Host* to = zone->create_host(fmt::format("to{}", index), 1.0);
      std::vector<sg::LinkInRoute> path;
      for (const LinkId link : route) path.emplace_back(by_id[link.position()]);
      zone->add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr, path, false);
      zone->seal();
      pairs_[index] = {from, to};
    }
  }

  void start(TaskId task, const CollectiveCost& cost, double stretch) override {
    const Plan& plan = plans_[static_cast<std::size_t>(&cost - problem_.costs.data())];
    Transfer& transfer = transfers_[task];
    transfer = {&plan, stretch, {}, plan.size()};
    for (const PlannedMessage& message : plan) transfer.waits_for.push_back(message.waits_for);
    for (std::size_t m = 0; m < plan.size(); ++m)
      if (plan[m].waits_for == 0) send(task, transfer, static_cast<int>(m));
  }

  bool completed(const sg::Activity& activity) override {
    const auto found = running_.find(&activity);
    if (found == running_.end()) return false;
    const Running done = found->second;
    running_.erase(found);
    keeper_.keep(done.comm);
    Transfer& transfer = transfers_.at(done.task);
    for (const int next : (*transfer.plan)[static_cast<std::size_t>(done.message)].next)
      if (--transfer.waits_for[static_cast<std::size_t>(next)] == 0)
        send(done.task, transfer, next);
    if (--transfer.left == 0) {
      transfers_.erase(done.task);
      ended_(done.task);
    }
    return true;
  }

 private:
  struct Transfer {
    const Plan* plan = nullptr;
    double stretch = 1;
    std::vector<int> waits_for;
    std::size_t left = 0;
  };
  struct Running {
    sg::CommPtr comm;
    TaskId task;
    int message;
  };

  void send(TaskId task, const Transfer& transfer, int index) {
    const PlannedMessage& message = (*transfer.plan)[static_cast<std::size_t>(index)];
    const auto [from, to] = pairs_[message.route];
    const sg::CommPtr comm = sg::Comm::sendto_init(from, to);
    const double wire = message.bytes.value() * transfer.stretch;
    comm->set_payload_size(static_cast<std::uint64_t>(std::max(1.0, std::round(wire))));
    running_[comm.get()] = {comm, task, index};
    comm->start();
  }

  std::size_t route_of(const std::vector<LinkId>& route) {
    return routes_.try_emplace(route, routes_.size()).first->second;
  }

  Plan plan(const Unfolded& all, const FoldedGroup& group, const CollectiveCost& cost) {
    const auto j = static_cast<std::size_t>(group.job);
    const GroupTable& table = all.jobs[j].tables[group.communicator.position()];
    const CollectivePart& part = *cost.op->collective;
    const std::vector<Message> messages = cost.algorithm->messages(
        part.kind, part.bytes, table.gpus_of(group.representative), part.root, *all.network);
    if (messages.empty())
      throw InputError(fmt::format("op \"{}\": the algorithm \"{}\" has no message form",
                                   cost.op->name, cost.algorithm->name()));
    Plan plan;
    // By channel and GPU: messages that came in or went out, by step.
    std::map<std::pair<int, GpuId>, std::map<int, std::vector<int>>> in, out;
    for (const Message& message : messages) {
      const int index = static_cast<int>(plan.size());
      plan.push_back({message.bytes, route_of(message.route), {}, 0});
      in[{message.channel, message.to}][message.step].push_back(index);
      out[{message.channel, message.from}][message.step].push_back(index);
    }
    for (std::size_t m = 0; m < messages.size(); ++m) {
      const std::pair<int, GpuId> sender{messages[m].channel, messages[m].from};
      for (auto* side : {&in, &out}) {
        const auto& steps = (*side)[sender];
        auto before = steps.lower_bound(messages[m].step);
        if (before == steps.begin()) continue;
        for (const int earlier : (--before)->second) {
          plan[static_cast<std::size_t>(earlier)].next.push_back(static_cast<int>(m));
          ++plan[m].waits_for;
        }
      }
    }
    return plan;
  }

  const Problem& problem_;
  std::vector<Plan> plans_;  // by cost
  std::map<std::vector<LinkId>, std::size_t> routes_;
  std::vector<std::pair<sg::Host*, sg::Host*>> pairs_;
  std::map<TaskId, Transfer> transfers_;
  std::map<const sg::Activity*, Running> running_;
  SimgridKeeper keeper_;
};

}  // namespace

std::unique_ptr<SimgridTransfers> make_messages(const Problem& problem, const Unfolded& unfolded) {
  return std::make_unique<Messages>(problem, unfolded);
}

}  // namespace amsp
