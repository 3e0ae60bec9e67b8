// SPDX-License-Identifier: Apache-2.0
// Ranks that run one job after another, as a validation needs them: local processes, ranks that a
// launcher started, or ranks on hosts reached by ssh.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "exec/host_list.hpp"
#include "exec/identity.hpp"
#include "exec/job.hpp"
#include "exec/launch.hpp"
#include "exec/trace.hpp"

namespace amsp {

class RankTeam {
 public:
  RankTeam() = default;
  virtual ~RankTeam() = default;
  RankTeam(const RankTeam&) = delete;
  RankTeam& operator=(const RankTeam&) = delete;
  // Throws as run_local() does.
  virtual ExecTrace run(const ExecJob& job) = 0;
  // The host of every rank; known after the first job.
  [[nodiscard]] virtual std::vector<std::string> hosts() const = 0;
};

// New processes on this machine for each job.
std::unique_ptr<RankTeam> local_team(LocalPlaces places);

// This process is rank 0 of those that torchrun, srun or mpirun started; the others stand by.
std::unique_ptr<RankTeam> launched_team(const RankIdentity& self, Seconds timeout);

struct SshOptions {
  std::string program;  // amsp on the hosts
  std::string address;  // of this machine, as the hosts reach it; empty = found out
  Seconds timeout{60};
  std::function<void(std::string_view)> say;  // called with each command that is run
};
// Ranks on hosts: ssh for each host but this one, where a shell does. They are gone when the team
// is, since a rank ends when it loses its coordinator.
std::unique_ptr<RankTeam> ssh_team(const std::vector<HostRanks>& hosts, const SshOptions& options);

// The life of a rank that stands by: it runs the coordinator's jobs until there are no more.
void stand_by(const RankIdentity& self, Seconds timeout);

}  // namespace amsp
