// SPDX-License-Identifier: Apache-2.0
// A rank that a foreign launcher started. Rank 0 also holds the coordinator.
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <future>
#include <thread>

#include "base/error.hpp"
#include "exec/backend.hpp"
#include "exec/connect.hpp"
#include "exec/coordinator.hpp"
#include "exec/launch.hpp"
#include "exec/rank_process.hpp"

namespace amsp {
namespace {

std::vector<std::string> run_rank_zero(const ExecJob& job, const RankIdentity& self) {
  Coordinator coordinator(self.world, job.options.timeout);
  coordinator.listen_on(self.port);
  auto results = std::async(std::launch::async, [&] { return coordinator.serve(); });
  std::thread rank([&] {
    try {
      Descriptor socket = connect_to(self.address, self.port, job.options.timeout);
      // The coordinator's thread ends the process, with its reason.
      ControlLink link(std::move(socket), [](const std::string&) { pause(); });
      live_as_rank(job, {self.rank, self.local_rank, ""}, link);
    } catch (const std::exception& error) {
      end_process(error, self.rank);
    }
  });
  try {
    std::vector<std::string> all = results.get();
    rank.join();
    return all;
  } catch (const InputError& error) {
    fmt::print(stderr, "amsp: {}\n", error.what());
    std::fflush(stderr);
    _exit(2);  // the rank's threads may hang in a collective
  } catch (const std::exception& error) {
    fmt::print(stderr, "amsp: {}\n", error.what());
    std::fflush(stderr);
    _exit(1);
  }
}

}  // namespace

std::optional<ExecTrace> run_as_rank(const ExecJob& job, const RankIdentity& self) {
  // Gloo writes to sockets whose peer may be dead: that must be an error with a message here.
  std::signal(SIGPIPE, SIG_IGN);
  check_job(job);
  const auto backend = find_backend(job.options.backend);
  if (const std::string reason = backend->unavailable(); !reason.empty())
    throw InputError(fmt::format("backend {}: {}", backend->name(), reason));
  if (self.world != job.schedule.world)
    throw InputError(fmt::format("the schedule has {} ranks, {} started {}", job.schedule.world,
                                 self.launcher, self.world));
  if (self.rank == Rank(0)) {
    std::vector<RankTimes> times;
    for (const std::string& bytes : run_rank_zero(job, self)) times.push_back(unpack(bytes));
    return make_trace(job, times);
  }
  Descriptor socket = connect_to(self.address, self.port, job.options.timeout);
  const Rank rank = self.rank;
  ControlLink link(std::move(socket),
                   [rank](const std::string& reason) { end_process(reason, rank); });
  live_as_rank(job, {self.rank, self.local_rank, ""}, link);
  return std::nullopt;
}

}  // namespace amsp
