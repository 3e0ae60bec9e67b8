// SPDX-License-Identifier: Apache-2.0
// Where the time of a step goes: the critical path, the busiest links, who waits for whom, and
// what an infinitely fast resource would save.
#pragma once
#include <string>
#include <vector>

#include "sim/replay.hpp"

namespace amsp {

// A stretch of the chain of ops that ends with the step: nothing on it could have been later
// without the step being later.
struct PathStep {
  OpId op;
  Rank rank;      // representative
  Seconds begin;  // when it was ready or what it waited for had ended
  Seconds end;
  std::string why;  // what its start waited for: "dependency", "stream", "communicator", "member"
};

// Time on the critical path by what it was spent on ("compute", "all_reduce", …, "other").
struct PathShare {
  std::string what;
  Seconds time;
};

// A rank class that stood ready while another member of its group was not.
struct Waiting {
  Rank waits;  // representatives
  Rank for_rank;
  Seconds time;  // in the reported step
  std::string largest_op;
};

struct Saving {
  std::string resource;  // "compute", "latency of collectives", "NVLink", …
  Seconds step_time;     // with it infinitely fast
  Seconds saved;
};

struct Explanation {
  ReplayResult result;            // all repetitions replayed
  std::vector<PathStep> path;     // in time order, over the reported step
  std::vector<PathShare> shares;  // largest first
  std::vector<LinkUse> links;     // busiest first
  std::vector<Waiting> waits;     // longest first
  std::vector<Saving> savings;    // largest first
};

// Replays once as it is and once for each resource. At most `top` links and waits.
Explanation explain(const ReplayInput& input, const ReplayOptions& options, int top = 10);

}  // namespace amsp
