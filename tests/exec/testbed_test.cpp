// SPDX-License-Identifier: Apache-2.0
// The testbed: rates are reached, ranks run inside it, nothing is left. Skips without namespaces.
#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>

#include "base/error.hpp"
#include "exec/launch.hpp"
#include "exec/testbed_control.hpp"
#include "schedules.hpp"

using namespace amsp;

namespace {

bool skipped() {
  const std::string reason = Testbed::unavailable();
  if (!reason.empty()) std::printf("skipped: %s\n", reason.c_str());
  return !reason.empty();
}

int namespaces_left(const std::string& prefix) {
  int count = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/run/netns", error))
    count += entry.path().filename().string().rfind(prefix, 0) == 0;
  return count;
}

}  // namespace

TEST_CASE("a broadcast in the testbed takes its bytes over the shaped rate") {
  if (skipped()) return;
  TestbedShape shape;
  shape.nodes = 2;
  shape.ranks_per_node = 1;
  shape.intra = gigabits_per_second(0.1);
  shape.inter = gigabits_per_second(0.02);
  {
    const Testbed testbed("unittest", shape);
    CHECK(namespaces_left("amsp-unittest-") == 5);  // 2 ranks, 2 nodes, the switch
    ScheduleBuilder builder(2);
    const CommId comm = builder.whole_world();
    const Bytes bytes(500000);
    builder.collective("copy", {CollectiveKind::broadcast, comm, bytes, Dtype::bf16, 0});
    const ExecTrace trace = run_local(builder.job(), {testbed.namespaces()});
    const Seconds wire = bytes / (shape.inter * testbed_payload_share);
    CHECK(trace.step_time > wire * 0.85);
    CHECK(trace.step_time < wire * 1.5);
    // A rank dies: the job ends, the testbed can still be taken down.
    ExecJob job = builder.job();
    job.before_op = [](Rank rank, OpId) {
      if (rank == Rank(1)) kill(getpid(), SIGKILL);
    };
    CHECK_THROWS_AS(run_local(job, {testbed.namespaces()}), CheckFailed);
  }
  CHECK(namespaces_left("amsp-unittest-") == 0);
}

TEST_CASE("sizes and uplinks of a testbed as text") {
  TestbedShape shape;
  parse_testbed_size("3x2", shape);
  CHECK((shape.nodes == 3 && shape.ranks_per_node == 2));
  parse_uplink("1=40mbit", shape);
  CHECK(shape.uplinks.at(1) == gigabits_per_second(0.04));
  CHECK_THROWS_WITH(parse_uplink("3=40mbit", shape), Catch::Matchers::Contains("0 to 2"));
  CHECK_THROWS_AS(parse_testbed_size("3", shape), InputError);
  CHECK_THROWS_AS(parse_testbed_size("0x2", shape), InputError);
}
