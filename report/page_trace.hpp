// SPDX-License-Identifier: Apache-2.0
// A Chrome trace as a page needs it: what its figures show and nothing else, in few bytes.
#pragma once
#include <string>

namespace amsp {

// JSON for report/html/trace.js: "lanes" with the slices of each thread as numbers, "texts" and
// "kinds" that these count into, "memory", "links" (how many there are), "other" (otherData).
// At most 12,000 slices: the shortest neighbours on a thread are drawn as one until they are so
// few.
std::string page_trace(const std::string& chrome_trace);

}  // namespace amsp
