// SPDX-License-Identifier: Apache-2.0
// Memory of a rank (docs/model/50-memory.md).
#pragma once
#include <map>
#include <vector>

#include "workloads/job.hpp"
#include "workloads/schedule.hpp"

namespace amsp {

// What a rank holds all the time: P and OS on their shards, DeepSpeed's gradient buffers,
// NCCL's buffers, the CUDA context. (Else G comes and goes with the step.)
std::vector<PersistentMemory> persistent_memory(const Job& job,
                                                const std::vector<Communicator>& communicators);

struct MemoryEstimate {
  Bytes peak;
  std::map<MemoryComponent, Bytes> at_peak;
  OpId at;  // the op during which the peak is reached
};

// The peak when every op runs alone in program order: exact for a schedule without overlap, and a
// close estimate with it (gathers are launched where the program launches them). Cost: linear in
// the ops; repeated blocks are walked once.
MemoryEstimate estimate_peak_memory(const Schedule& schedule);

}  // namespace amsp
