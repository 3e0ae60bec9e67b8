// SPDX-License-Identifier: Apache-2.0
// What nccl-bench (calibrate/microbench) reports: a run in the terms of nccl-tests, so that the log
// readers take it. Free of CUDA, so that it is tested on machines without.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/logs/measurement.hpp"

namespace amsp::bench {

// The ranks of the group that measures, and how many of them a node holds, where the launcher says.
struct GroupPlacement {
  int ranks = 1;
  std::optional<int> ranks_a_node;
};

// A collective of floats that is asked for with `asked` bytes (whole buffer): what is really moved.
struct BenchSize {
  std::int64_t count =
      0;        // nccl-tests' column: elements, of each rank's part where there are parts
  Bytes bytes;  // the whole buffer
};
BenchSize bench_size(CollectiveKind kind, Bytes asked, int ranks);

// least, 2 least, 4 least … up to `most`. Throws InputError when `least` is less than one float for
// each rank, or more than `most`.
std::vector<Bytes> bench_sizes(Bytes least, Bytes most, int ranks);

// The run without rows; `nccl_version` as ncclGetVersion gives it.
MeasuredRun bench_run(CollectiveKind kind, const GroupPlacement& group, std::string gpu,
                      int nccl_version);
void add_bench_row(MeasuredRun& run, Bytes asked, Seconds time);

}  // namespace amsp::bench
