// SPDX-License-Identifier: Apache-2.0
// The hosts of a job: "a:4,b:4", or a file with a host a line.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace amsp {

struct HostRanks {
  std::string name;
  int ranks = 1;
};

// "a:4,b:4" (":1" may be left out), or a file that exists, with lines "a:4", "a 4", "a slots=4"
// and # comments. Throws InputError; also when hosts have unequal numbers of ranks, since a
// cluster's nodes are alike.
std::vector<HostRanks> parse_hosts(std::string_view text);

// localhost, 127.0.0.1, or this host's own name.
bool is_this_host(const std::string& name);

}  // namespace amsp
