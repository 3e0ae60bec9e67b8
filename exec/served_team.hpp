// SPDX-License-Identifier: Apache-2.0
// A team whose ranks stand by elsewhere and connect to a coordinator here for every job.
#pragma once
#include <string>
#include <vector>

#include "exec/coordinator.hpp"
#include "exec/rank_team.hpp"

namespace amsp {

class ServedTeam : public RankTeam {
 public:
  ServedTeam(int world, Seconds timeout);
  ExecTrace run(const ExecJob& job) override;
  [[nodiscard]] std::vector<std::string> hosts() const override { return hosts_; }

 protected:
  Coordinator& coordinator() { return coordinator_; }
  // Results of the ranks, in their order.
  virtual std::vector<std::string> serve() { return coordinator_.serve(); }

 private:
  int world_;
  Coordinator coordinator_;
  std::vector<std::string> hosts_;
};

}  // namespace amsp
