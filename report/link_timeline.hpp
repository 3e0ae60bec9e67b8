// SPDX-License-Identifier: Apache-2.0
// Which collective held which link when, in the reported step of a replay.
#pragma once
#include <vector>

#include "base/id.hpp"
#include "base/quantity.hpp"
#include "sim/replay.hpp"

namespace amsp {

// One collective on one link (the representative of its class). The rate is the mean over the
// collective's run: bytes on this link over end - start.
struct LinkSpan {
  LinkId link;
  OpId op;
  Seconds start, end;  // as in the records
  Bytes bytes;
};

// For the links that the replay reports (ReplayResult::links), sorted by link, then by start.
std::vector<LinkSpan> link_timeline(const ReplayInput& input, const ReplayResult& result);

}  // namespace amsp
