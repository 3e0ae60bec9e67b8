// SPDX-License-Identifier: Apache-2.0
#include "exec/rank_team.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "base/error.hpp"
#include "base/file.hpp"
#include "exec/connect.hpp"
#include "exec/control_link.hpp"
#include "exec/job_text.hpp"
#include "exec/rank_process.hpp"
#include "exec/served_team.hpp"

namespace amsp {
namespace {

class LocalTeam : public RankTeam {
 public:
  explicit LocalTeam(LocalPlaces places) : places_(std::move(places)) {}
  ExecTrace run(const ExecJob& job) override {
    world_ = job.schedule.world;
    return run_local(job, places_);
  }
  std::vector<std::string> hosts() const override {
    return std::vector<std::string>(static_cast<std::size_t>(world_), "localhost");
  }

 private:
  LocalPlaces places_;
  int world_ = 0;
};

// Ranks of one job are of one version; the token keeps jobs on one machine apart.
std::string standing_digest() {
  const auto token = process_environment()("AMSP_JOB_TOKEN");
  return sha256("amsp " AMSP_VERSION " stands by " + token.value_or(""));
}

using OnEnd = std::function<void(const std::string&)>;

void run_jobs(const RankIdentity& self, Seconds timeout, const OnEnd& on_end) {
  while (true) {
    ControlLink link(connect_to(self.address, self.port, timeout), on_end);
    if (!link.join(hello_of_this_host(self.rank, self.world, standing_digest()))) return;
    ExecJob job;
    try {
      job = parse_job(link.get("job"));
    } catch (const std::exception& error) {
      link.fail(error.what());
    }
    if (job.options.compute == ComputeMode::timed) favour_timed_rank();
    take_part(job, {self.rank, self.local_rank, ""}, link);
  }
}

class LaunchedTeam : public ServedTeam {
 public:
  LaunchedTeam(const RankIdentity& self, Seconds timeout)
      : ServedTeam(self.world, timeout), self_(self) {
    coordinator().listen_on(self.port);
    rank_ = std::thread([this, timeout] {
      try {
        // The coordinator ends the process, with its reason.
        run_jobs(self_, timeout, [](const std::string&) { pause(); });
      } catch (const std::exception& error) {
        end_process(error, self_.rank);
      }
    });
  }
  ~LaunchedTeam() override {
    coordinator().dismiss();
    rank_.join();
  }

 private:
  // The rank's threads may hang in a collective: there is no way on but to end the process.
  std::vector<std::string> serve() override {
    try {
      return coordinator().serve();
    } catch (const std::exception& error) {
      end_process(error, self_.rank);
    }
  }
  RankIdentity self_;
  std::thread rank_;
};

}  // namespace

ServedTeam::ServedTeam(int world, Seconds timeout) : world_(world), coordinator_(world, timeout) {
  // Gloo writes to sockets whose peer may be dead: that must be an error with a message here.
  std::signal(SIGPIPE, SIG_IGN);
}

ExecTrace ServedTeam::run(const ExecJob& job) {
  check_job(job);
  if (job.schedule.world != world_)
    throw InputError(
        fmt::format("the schedule has {} ranks, the hosts have {}", job.schedule.world, world_));
  coordinator_.renew({{"job", to_text(job)}});
  std::vector<RankTimes> times;
  for (const std::string& bytes : serve()) times.push_back(unpack(bytes));
  hosts_ = coordinator_.hosts();
  return make_trace(job, times);
}

std::unique_ptr<RankTeam> local_team(LocalPlaces places) {
  return std::make_unique<LocalTeam>(std::move(places));
}

std::unique_ptr<RankTeam> launched_team(const RankIdentity& self, Seconds timeout) {
  return std::make_unique<LaunchedTeam>(self, timeout);
}

void stand_by(const RankIdentity& self, Seconds timeout) {
  std::signal(SIGPIPE, SIG_IGN);
  const Rank rank = self.rank;
  run_jobs(self, timeout, [rank](const std::string& reason) { end_process(reason, rank); });
}

}  // namespace amsp
