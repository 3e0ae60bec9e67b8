// SPDX-License-Identifier: Apache-2.0
// A rank that dies, hangs or disagrees ends the whole job with its name, in time, and leaves no
// process behind.
#include <rapidcheck/catch.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>

#include "base/error.hpp"
#include "exec/clock.hpp"
#include "exec/launch.hpp"
#include "schedules.hpp"

using namespace amsp;
using Catch::Matchers::Contains;

namespace {

// Computation and all-reduces that need every rank, over and over.
ScheduleBuilder ring_of_steps(int world, int ops = 6) {
  ScheduleBuilder builder(world);
  const CommId comm = builder.whole_world();
  for (int i = 0; i < ops; ++i) {
    const OpId work = builder.compute("work" + std::to_string(i), milliseconds(2));
    builder.collective("reduce" + std::to_string(i),
                       {CollectiveKind::all_reduce, comm, Bytes(20000), Dtype::fp32, 0}, {work});
  }
  return builder;
}

std::string failure_of(const ExecJob& job) {
  try {
    run_local(job);
  } catch (const CheckFailed& error) {
    return error.what();
  }
  return "";
}

// All ranks are children of this process: after a run there must be none.
bool no_children() { return waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD; }

}  // namespace

TEST_CASE("a rank that is killed anywhere is named") {
  rc::prop("kill a random rank at a random op", [] {
    const int world = *rc::gen::inRange(2, 6);
    const int victim = *rc::gen::inRange(0, world);
    const ExecJob plain = ring_of_steps(world).job();
    const OpId op(*rc::gen::inRange(0, static_cast<int>(plain.schedule.ops.size())));
    ExecJob job = plain;
    job.before_op = [victim, op](Rank rank, OpId at) {
      if (rank == Rank(victim) && at == op) kill(getpid(), SIGKILL);
    };
    const Seconds before = now();
    const std::string message = failure_of(job);
    const Seconds took = now() - before;
    const bool named =
        message.find("rank " + std::to_string(victim) + " was killed by signal 9") == 0;
    const bool alone = no_children();
    // Said here, since a failure that depends on timing is gone when rapidcheck shrinks it.
    if (!named || !alone || took > Seconds(10))
      std::fprintf(stderr, "world %d, victim %d, op %d: \"%s\" after %.3f s, %s\n", world, victim,
                   op.index, message.c_str(), took.value(), alone ? "no child left" : "child left");
    RC_ASSERT(named);
    RC_ASSERT(alone);
    RC_ASSERT(took < Seconds(10));
  });
}

TEST_CASE("a rank that ends by itself is named with its status") {
  ExecJob job = ring_of_steps(3).job();
  job.before_op = [](Rank rank, OpId op) {
    if (rank == Rank(1) && op == OpId(4)) _exit(7);
  };
  CHECK_THAT(failure_of(job), Contains("rank 1 ended early with exit status 7"));
  CHECK(no_children());
}

TEST_CASE("a rank that hangs in an op is named within the time-out") {
  for (int op : {2, 3}) {  // a compute op and a collective that it never enters
    ExecJob job = ring_of_steps(4).job();
    job.options.timeout = Seconds(2);
    job.before_op = [op](Rank rank, OpId at) {
      if (rank == Rank(2) && at == OpId(op)) sleep(1000);
    };
    const Seconds before = now();
    const std::string message = failure_of(job);
    CHECK_THAT(message, Contains("rank 2 hangs"));
    CHECK_THAT(message, Contains("\"" + job.schedule.op(OpId(op)).name + "\""));
    CHECK(now() - before < Seconds(8));
    CHECK(no_children());
  }
}

TEST_CASE("a stopped process is named within the time-out") {
  ExecJob job = ring_of_steps(3).job();
  job.options.timeout = Seconds(1);
  job.before_op = [](Rank rank, OpId op) {
    if (rank == Rank(0) && op == OpId(3)) kill(getpid(), SIGSTOP);
  };
  const std::string message = failure_of(job);
  CHECK_THAT(message, Contains("rank 0"));
  CHECK(no_children());
}

TEST_CASE("an exception in a rank is passed on with rank and op") {
  ExecJob job = ring_of_steps(3).job();
  job.before_op = [](Rank rank, OpId op) {
    if (rank == Rank(1) && op == OpId(2)) throw CheckFailed("no memory");
  };
  CHECK_THAT(failure_of(job), Contains("rank 1: op \"work1\": no memory"));
  CHECK(no_children());
}

TEST_CASE("a stop signal ends the ranks") {
  const pid_t self = getpid();
  ExecJob job = ring_of_steps(3).job();
  job.before_op = [self](Rank rank, OpId op) {
    if (rank == Rank(1) && op == OpId(2)) kill(self, SIGINT);
    if (op == OpId(4)) sleep(1000);
  };
  CHECK_THAT(failure_of(job), Contains("interrupted"));
  CHECK(no_children());
}

TEST_CASE("ranks die with a killed launcher") {
  // The launcher is a child here, its ranks become this process's children when it dies.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t launcher = fork();
  if (launcher == 0) {
    ExecJob job = ring_of_steps(3).job();
    job.before_op = [&](Rank, OpId op) {
      if (op != OpId(2)) return;
      if (write(ready[1], "x", 1) != 1) _exit(1);
      sleep(1000);
    };
    failure_of(job);
    _exit(0);
  }
  char byte;
  for (int i = 0; i < 3; ++i) REQUIRE(read(ready[0], &byte, 1) == 1);
  kill(launcher, SIGKILL);
  int ended = 0;
  for (int i = 0; i < 500 && ended < 4; ++i) {
    if (waitpid(-1, nullptr, WNOHANG) > 0)
      ++ended;
    else
      usleep(10000);
  }
  CHECK(ended == 4);
  CHECK(no_children());
  close(ready[0]);
  close(ready[1]);
}
