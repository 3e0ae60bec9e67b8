// SPDX-License-Identifier: Apache-2.0
// How the engine on SimGrid moves the bytes of a collective: as one parallel task, or message by
// message.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "sim/partition.hpp"
#include "sim/problem.hpp"

namespace simgrid::s4u {
class Activity;
class Link;
class NetZone;
}  // namespace simgrid::s4u

namespace amsp {

class SimgridTransfers {
 public:
  using Ended = std::function<void(TaskId)>;

  virtual ~SimgridTransfers() = default;
  // Arguments for SimGrid that choose its models.
  [[nodiscard]] virtual std::vector<std::string> configuration() const = 0;
  // ptask_L07 counts what remains of any activity in shares of it, the other models in FLOP.
  [[nodiscard]] virtual bool remaining_in_shares() const = 0;
  // Adds hosts and routes to the platform; links by class.
  virtual void build(simgrid::s4u::NetZone& root,
                     const std::vector<simgrid::s4u::Link*>& links) = 0;
  virtual void start(TaskId task, const CollectiveCost& cost, double stretch) = 0;
  // An activity has ended; true when it was one of a transfer. Calls `ended` with the last of a
  // transfer.
  virtual bool completed(const simgrid::s4u::Activity& activity) = 0;
  void on_end(Ended ended) { ended_ = std::move(ended); }

 protected:
  Ended ended_;
};

std::unique_ptr<SimgridTransfers> make_parallel_tasks(const Problem& problem);
// Throws InputError when an algorithm has no message form.
std::unique_ptr<SimgridTransfers> make_messages(const Problem& problem, const Unfolded& unfolded);

}  // namespace amsp
