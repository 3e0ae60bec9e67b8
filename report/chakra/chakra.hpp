// SPDX-License-Identifier: Apache-2.0
// Schedules as MLCommons Chakra execution traces, one file per rank, so that other simulators can
// run the same step; and back (docs/formats/chakra.md).
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.hpp"
#include "base/quantity.hpp"
#include "workloads/schedule.hpp"

namespace amsp {

struct ChakraOptions {
  std::vector<Rank> ranks;  // which ranks' traces to write; empty = all
  // Time of a compute op, for simulators that replay durations; empty = written as 0 (unknown).
  std::function<Seconds(const Op&)> compute_time;
  std::int64_t largest = 20'000'000;  // nodes over all files; more is refused
};

// The trace of one rank as bytes: one step, every repetition unrolled.
std::string chakra_trace(const Schedule& schedule, Rank rank, const ChakraOptions& options);

// FOLDER/NAME.RANK.et for each rank and FOLDER/NAME.groups.json (communicator group: ranks).
// Throws InputError when the traces would hold more than options.largest nodes.
void write_chakra(const Schedule& schedule, std::string_view name,
                  const std::filesystem::path& folder, const ChakraOptions& options);

// The schedule of traces that write_chakra() wrote: reads ranks until every op is known. Throws
// InputError naming the file and node of what is missing or broken.
Schedule read_chakra(const std::filesystem::path& folder);

}  // namespace amsp
