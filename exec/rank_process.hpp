// SPDX-License-Identifier: Apache-2.0
// The life of one rank: join the job, run the backend, hand in the times.
#pragma once
#include <string>
#include <vector>

#include "exec/control_link.hpp"
#include "exec/job.hpp"

namespace amsp {

struct RankPlace {
  Rank rank;
  int local_rank = 0;
  std::string host;  // address by which other ranks reach this one; "" = that of the link's socket
};

// Returns when every rank has handed in its times. Failures are reported to the coordinator, which
// then ends this process through the link; this does not return in that case.
void live_as_rank(const ExecJob& job, const RankPlace& place, ControlLink& link);
// The same for a rank that has joined already.
void take_part(const ExecJob& job, const RankPlace& place, ControlLink& link);

// Timed ranks sleep and forward, and should wake on time though the machine is busy: real-time
// round robin for the calling thread where that is allowed, else a raised nice level.
void favour_timed_rank();

// The IPv4 addresses of the interface that has `address`; without that one if there are others.
// (Communicators are spread over them, so that a testbed can tell their traffic apart.)
std::vector<std::string> addresses_beside(const std::string& address);
// First address of an interface other than loopback, else 127.0.0.1.
std::string first_address();

}  // namespace amsp
