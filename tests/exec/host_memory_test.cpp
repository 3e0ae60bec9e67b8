// SPDX-License-Identifier: Apache-2.0
// A job's buffers are weighed host by host, all ranks of a host together.
#include "exec/host_memory.hpp"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <sstream>

#include "base/error.hpp"
#include "exec/coordinator.hpp"

using namespace amsp;
using Catch::Matchers::Contains;

namespace {

constexpr Bytes kGb{1e9};

// A rank's need, and the host ("boot id") it is on.
struct Claim {
  std::string boot;
  Bytes need;
};

// What ended a job of these ranks, processes here; "" = all were granted what they need.
std::string failure_of(const std::vector<Claim>& claims, std::optional<Bytes> available) {
  const int world = static_cast<int>(claims.size());
  Coordinator coordinator(world, Seconds(20));
  std::vector<pid_t> pids;
  for (int r = 0; r < world; ++r) {
    int pair[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
    Descriptor here(pair[0]), there(pair[1]);
    pids.push_back(fork());
    if (pids.back() == 0) {
      here.reset();
      ControlLink link(std::move(there), [](const std::string&) { _exit(1); });
      const Claim& claim = claims[static_cast<std::size_t>(r)];
      if (!link.join({r, world, "digest", claim.boot, claim.boot})) _exit(2);
      try {
        claim_memory(link, Rank(r), claim.boot, claim.need, available);
      } catch (const std::exception& error) {
        link.fail(error.what());
      }
      link.finish("");
      _exit(0);
    }
    coordinator.adopt(Rank(r), std::move(here));
  }
  std::string failure;
  try {
    coordinator.serve();
  } catch (const CheckFailed& error) {
    failure = error.what();
  }
  for (pid_t pid : pids) {
    int status = 0;
    waitpid(pid, &status, 0);
    CHECK(WEXITSTATUS(status) == (failure.empty() ? 0 : 1));
  }
  return failure;
}

}  // namespace

TEST_CASE("available memory is what the kernel says, page cache included") {
  std::istringstream meminfo(
      "MemTotal:       24651508 kB\nMemFree:          512000 kB\n"
      "MemAvailable:   22313844 kB\nBuffers:          190312 kB\n");
  CHECK(available_memory(meminfo) == Bytes(22313844.0 * 1024));
  std::istringstream old("MemTotal:       24651508 kB\nMemFree:          512000 kB\n");
  CHECK_FALSE(available_memory(old));
}

TEST_CASE("the ranks of each host must fit into its memory together") {
  // Two of 3 GB on each of two hosts of 8 GB.
  const std::vector<Claim> even{{"a", kGb * 3}, {"a", kGb * 3}, {"b", kGb * 3}, {"b", kGb * 3}};
  CHECK(failure_of(even, kGb * 8) == "");
  CHECK_THAT(failure_of(even, kGb * 5), Contains("all ranks on this host (2) need 5.588 GiB") &&
                                            Contains("only 4.657 GiB left"));
  // Ranks have unlike needs; one alone times their number would be too much.
  const std::vector<Claim> uneven{{"a", kGb * 5}, {"a", kGb}, {"a", kGb}, {"a", Bytes()}};
  CHECK(failure_of(uneven, kGb * 8) == "");
  // Hosts' ranks may lie among each other; the host that lacks memory is named by its first rank.
  const std::vector<Claim> mixed{{"a", kGb}, {"b", kGb * 6}, {"a", kGb}, {"b", kGb * 6}};
  CHECK_THAT(failure_of(mixed, kGb * 8), Contains("rank 1 (on b): the buffers"));
  CHECK(failure_of(mixed, std::nullopt) == "");
}
