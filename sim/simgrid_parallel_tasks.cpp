// SPDX-License-Identifier: Apache-2.0
// A parallel task scans the square of its hosts and takes the same bytes from every link of a
// route, so that a group gets private hosts: one pair for each distinct load, with the links of
// that load as their route.
#include <fmt/format.h>

#include <map>
#include <simgrid/s4u.hpp>

#include "sim/simgrid_keeper.hpp"
#include "sim/simgrid_transfers.hpp"

namespace amsp {
namespace {

namespace sg = simgrid::s4u;

struct FlowHosts {
  std::vector<sg::Host*> hosts;  // sender, receiver, sender, receiver, …
  std::vector<double> loads;     // of each pair
};

class ParallelTasks final : public SimgridTransfers {
 public:
  explicit ParallelTasks(const Problem& problem) : problem_(problem) {}

  [[nodiscard]] std::vector<std::string> configuration() const override {
    return {"--cfg=host/model:ptask_L07", "--cfg=maxmin/precision:1e-12"};
  }

  [[nodiscard]] bool remaining_in_shares() const override { return true; }

  void build(sg::NetZone& root, const std::vector<sg::Link*>& links) override {
    flows_.resize(problem_.loads.size());
    std::vector<char> built(problem_.loads.size());
    for (const FoldedGroup& group : problem_.groups) {
      sg::NetZone* zone = nullptr;
      for (const int index : group.cost_of) {
        if (index < 0 || problem_.costs[static_cast<std::size_t>(index)].loads < 0) continue;
        const auto row =
            static_cast<std::size_t>(problem_.costs[static_cast<std::size_t>(index)].loads);
        if (built[row]) continue;
        built[row] = 1;
        if (!zone) {
          zone = sg::create_full_zone(fmt::format("group{}", row));
          zone->set_parent(&root);
        }
        flows_[row] = make_hosts(*zone, row, links);
      }
      if (zone) zone->seal();
    }
  }

  void start(TaskId task, const CollectiveCost& cost, double stretch) override {
    const FlowHosts& flow = flows_[static_cast<std::size_t>(cost.loads)];
    const std::size_t n = flow.hosts.size();
    std::vector<double> bytes(n * n);
    for (std::size_t pair = 0; pair < flow.loads.size(); ++pair)
      bytes[2 * pair * n + 2 * pair + 1] = cost.flow.value() * flow.loads[pair] * stretch;
    const sg::ExecPtr exec = sg::Exec::init();
    exec->set_flops_amounts(std::vector<double>(n))->set_bytes_amounts(bytes);
    exec->set_hosts(flow.hosts);
    running_[exec.get()] = {exec, task};
    exec->start();
  }

  bool completed(const sg::Activity& activity) override {
    const auto found = running_.find(&activity);
    if (found == running_.end()) return false;
    const TaskId task = found->second.second;
    keeper_.keep(found->second.first);
    running_.erase(found);
    ended_(task);
    return true;
  }

 private:
  static FlowHosts make_hosts_of(sg::NetZone& zone, std::size_t row,
                                 const std::map<double, std::vector<sg::LinkInRoute>>& routes) {
    FlowHosts flow;
    for (const auto& [load, route] : routes) {
      const std::string name = fmt::format("flow{}-{}", row, flow.loads.size());
      sg::Host* from = zone.create_host(name + "-from", 1.0);
      sg::Host* to = zone.create_host(name + "-to", 1.0);
      zone.add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr, route, false);
      flow.hosts.insert(flow.hosts.end(), {from, to});
      flow.loads.push_back(load);
    }
    return flow;
  }

  FlowHosts make_hosts(sg::NetZone& zone, std::size_t row, const std::vector<sg::Link*>& links) {
    std::map<double, std::vector<sg::LinkInRoute>> routes;
    for (const ClassLoad& load : problem_.loads[row])
      routes[load.load].emplace_back(links[load.link.position()]);
    return make_hosts_of(zone, row, routes);
  }

  const Problem& problem_;
  std::vector<FlowHosts> flows_;  // by row of loads
  std::map<const sg::Activity*, std::pair<sg::ExecPtr, TaskId>> running_;
  SimgridKeeper keeper_;
};

}  // namespace

std::unique_ptr<SimgridTransfers> make_parallel_tasks(const Problem& problem) {
  return std::make_unique<ParallelTasks>(problem);
}

}  // namespace amsp
