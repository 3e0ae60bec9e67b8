// SPDX-License-Identifier: Apache-2.0
// Whether the buffers of all ranks on a host fit into its memory together, asked before any of them
// is allocated: a host that runs out of memory kills a process, and not always a rank.
#pragma once
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "base/id.hpp"
#include "base/quantity.hpp"
#include "exec/control_link.hpp"

namespace amsp {

// What can be allocated without swapping, page cache included: MemAvailable of /proc/meminfo, which
// this is. Empty when it is not there (Linux before 3.14).
std::optional<Bytes> available_memory(std::istream& meminfo);

// Returns when every rank of the host with this boot id (Hello) has come here and what they need
// fits into what is `available`. Throws CheckFailed on the host's first rank when it does not; the
// others learn it as the job ends.
void claim_memory(ControlLink& link, Rank rank, const std::string& boot, Bytes need,
                  const std::optional<Bytes>& available);

// What the coordinator stores for claim_memory().
std::string neighbours_key(const std::string& boot);
std::string to_text(const std::vector<Rank>& ranks_of_host);

}  // namespace amsp
