// SPDX-License-Identifier: Apache-2.0
// Ranks that come by themselves, as torchrun, srun and mpirun start them.
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <sstream>

#include "base/error.hpp"
#include "exec/connect.hpp"
#include "exec/control_link.hpp"
#include "exec/identity.hpp"
#include "exec/launch.hpp"
#include "exec/rank_team.hpp"
#include "schedules.hpp"

using namespace amsp;
using Catch::Matchers::Contains;

namespace {

Environment environment(std::map<std::string, std::string> variables) {
  return [variables](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

int free_port() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t length = sizeof address;
  bind(fd, reinterpret_cast<sockaddr*>(&address), length);
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length);
  close(fd);
  return ntohs(address.sin_port);
}

std::string log_of_ranks() { return "/tmp/amsp_foreign_" + std::to_string(getpid()); }

int status_of(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

std::string take_text(const std::string& log) {
  std::stringstream text;
  text << std::ifstream(log).rdbuf();
  unlink(log.c_str());
  return text.str();
}

// Runs every rank in a process of its own; exit statuses, and what they wrote to stderr.
struct Outcome {
  std::vector<int> statuses;
  std::string text;
};
template <class JobOfRank>
Outcome run_ranks(int world, JobOfRank job_of_rank) {
  const int port = free_port();
  const std::string log = log_of_ranks();
  std::vector<pid_t> pids;
  for (int r = 0; r < world; ++r) {
    pids.push_back(fork());
    if (pids.back() != 0) continue;
    if (!std::freopen(log.c_str(), "a", stderr)) _exit(9);
    try {
      const auto self = rank_identity(environment({{"RANK", std::to_string(r)},
                                                   {"WORLD_SIZE", std::to_string(world)},
                                                   {"LOCAL_RANK", std::to_string(r)},
                                                   {"MASTER_ADDR", "127.0.0.1"},
                                                   {"MASTER_PORT", std::to_string(port)}}));
      const auto trace = run_as_rank(job_of_rank(r), *self);
      _exit(trace.has_value() == (r == 0) ? 0 : 8);
    } catch (const InputError& error) {
      std::fprintf(stderr, "%s\n", error.what());
      std::fflush(stderr);
      _exit(2);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      std::fflush(stderr);
      _exit(1);
    }
  }
  Outcome outcome;
  for (pid_t pid : pids) outcome.statuses.push_back(status_of(pid));
  outcome.text = take_text(log);
  return outcome;
}

// Rank 0 of two in a process of its own, while this process plays rank 1 (over a raw socket).
template <class Body, class Play>
Outcome run_rank_zero_with(const std::string& address, Body body, Play play) {
  RankIdentity self{Rank(0), 2, 0, address, free_port(), "torchrun"};
  const std::string log = log_of_ranks();
  const pid_t pid = fork();
  if (pid == 0) {
    if (!std::freopen(log.c_str(), "a", stderr)) _exit(9);
    body(self);
    _exit(0);
  }
  play(connect_to("127.0.0.1", self.port, Seconds(5)));
  Outcome outcome;
  outcome.statuses.push_back(status_of(pid));
  outcome.text = take_text(log);
  return outcome;
}

// Says hello as `rank`.
void say_hello(const Descriptor& socket, Rank rank) {
  write_frame(socket.get(), {FrameKind::hello, to_text(hello_of_this_host(rank, 2, "digest"))});
}

// Rank 1 as it keeps the coordinator from giving the job up before rank 0's own time-out.
void play_a_busy_rank(const Descriptor& socket) {
  say_hello(socket, Rank(1));
  while (write_frame(socket.get(), {FrameKind::set, "key\nvalue"})) usleep(20000);
}

ExecJob gathers(int world, int bytes = 4096) {
  ScheduleBuilder builder(world);
  const CommId comm = builder.whole_world();
  for (int i = 0; i < 5; ++i)
    builder.collective("gather" + std::to_string(i),
                       {CollectiveKind::all_gather, comm, Bytes(bytes), Dtype::bf16, 0});
  ExecJob job = builder.job();
  job.options.timeout = Seconds(5);
  return job;
}

}  // namespace

TEST_CASE("identities of torchrun, srun and mpirun") {
  auto self = rank_identity(environment({{"RANK", "3"},
                                         {"WORLD_SIZE", "8"},
                                         {"LOCAL_RANK", "1"},
                                         {"MASTER_ADDR", "node7"},
                                         {"MASTER_PORT", "29500"},
                                         {"TORCHELASTIC_USE_AGENT_STORE", "True"}}));
  REQUIRE(self);
  CHECK((self->rank == Rank(3) && self->world == 8 && self->local_rank == 1));
  CHECK((self->address == "node7" && self->port == 29501));
  self = rank_identity(environment({{"SLURM_PROCID", "0"},
                                    {"SLURM_NTASKS", "16"},
                                    {"SLURM_LOCALID", "0"},
                                    {"SLURM_JOB_ID", "42"},
                                    {"SLURM_STEP_NODELIST", "gpu[03-05,9],login"}}));
  REQUIRE(self);
  CHECK((self->world == 16 && self->address == "gpu03" && self->port >= 20000));
  self = rank_identity(environment({{"OMPI_COMM_WORLD_RANK", "1"},
                                    {"OMPI_COMM_WORLD_SIZE", "2"},
                                    {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                    {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}}));
  REQUIRE(self);
  CHECK((self->rank == Rank(1) && self->address == "127.0.0.1"));
  CHECK_FALSE(rank_identity(environment({})));
  CHECK(first_slurm_host("a1,b2") == "a1");
  CHECK(first_slurm_host("n[7]") == "n7");
}

TEST_CASE("a bad environment is refused with the variable's name") {
  CHECK_THROWS_WITH(rank_identity(environment({{"RANK", "8"}, {"WORLD_SIZE", "8"}})),
                    Contains("RANK") && Contains("0 to 7"));
  CHECK_THROWS_WITH(rank_identity(environment({{"RANK", "0"}})), Contains("WORLD_SIZE"));
  CHECK_THROWS_WITH(
      rank_identity(environment({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}})),
      Contains("MASTER_ADDR"));
}

TEST_CASE("ranks that come by themselves run the job, and rank 0 has the trace") {
  const Outcome outcome = run_ranks(4, [](int) { return gathers(4); });
  INFO(outcome.text);
  CHECK(outcome.statuses == std::vector<int>{0, 0, 0, 0});
}

TEST_CASE("the rank with another schedule is named by all") {
  const Outcome outcome =
      run_ranks(4, [](int rank) { return gathers(4, rank == 2 ? 8192 : 4096); });
  INFO(outcome.text);
  CHECK(outcome.statuses[0] == 2);
  CHECK(outcome.statuses[1] != 0);
  CHECK_THAT(outcome.text, Contains("rank 2 disagrees"));
}

TEST_CASE("a dead rank is named where ranks come by themselves") {
  for (int victim : {1, 0}) {
    const Outcome outcome = run_ranks(3, [victim](int) {
      ExecJob job = gathers(3);
      job.before_op = [victim](Rank rank, OpId op) {
        if (rank == Rank(victim) && op == OpId(3)) kill(getpid(), SIGKILL);
      };
      return job;
    });
    INFO(outcome.text);
    for (int rank = 0; rank < 3; ++rank)
      CHECK(outcome.statuses[static_cast<std::size_t>(rank)] == (rank == victim ? -SIGKILL : 1));
    // Without rank 0 there is no coordinator: the others say that it is lost.
    CHECK_THAT(outcome.text, Contains(victim == 1 ? "rank 1 is gone" : "lost contact"));
  }
}

TEST_CASE("a rank that never comes is named") {
  const Outcome outcome = run_ranks(2, [](int rank) {
    if (rank == 1) _exit(5);
    ExecJob job = gathers(2);
    job.options.timeout = Seconds(1);
    return job;
  });
  INFO(outcome.text);
  CHECK(outcome.statuses[0] == 1);
  CHECK_THAT(outcome.text, Contains("no sign of rank 1"));
}

TEST_CASE("rank 0 that cannot reach itself ends with the reason") {
  // No connection is made to the broadcast address.
  const std::string nowhere = "255.255.255.255";
  ExecJob job = gathers(2);
  job.options.timeout = milliseconds(300);
  const Outcome rank = run_rank_zero_with(
      nowhere, [&](auto& self) { run_as_rank(job, self); }, play_a_busy_rank);
  INFO(rank.text);
  CHECK(rank.statuses[0] == 1);
  CHECK_THAT(rank.text, Contains("rank 0 stops: cannot reach rank 0 at " + nowhere));
  const Outcome team = run_rank_zero_with(
      nowhere, [&](auto& self) { launched_team(self, milliseconds(300))->run(job); },
      play_a_busy_rank);
  INFO(team.text);
  CHECK(team.statuses[0] == 1);
  CHECK_THAT(team.text, Contains("rank 0 stops: cannot reach rank 0 at " + nowhere));
}

TEST_CASE("ranks that disagree are bad input to rank 0, whichever way it was started") {
  const ExecJob job = gathers(2);
  const auto play_rank_seven = [](const Descriptor& socket) { say_hello(socket, Rank(7)); };
  const Outcome rank = run_rank_zero_with(
      "127.0.0.1", [&](auto& self) { run_as_rank(job, self); }, play_rank_seven);
  const Outcome team = run_rank_zero_with(
      "127.0.0.1", [&](auto& self) { launched_team(self, Seconds(5))->run(job); }, play_rank_seven);
  for (const Outcome& outcome : {rank, team}) {
    INFO(outcome.text);
    CHECK(outcome.statuses[0] == 2);
    CHECK_THAT(outcome.text, Contains("says it is rank 7; ranks are 0 to 1"));
  }
}
