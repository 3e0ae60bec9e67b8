// SPDX-License-Identifier: Apache-2.0
// Which rank this process is, as the launcher says (torchrun, srun, mpirun), and how ranks agree on
// a communicator: NCCL's unique id in a file that all of them see.
#pragma once
#include <nccl.h>

#include <string>

namespace amsp::bench {

struct RankEnvironment {
  int rank = 0;
  int size = 1;
  int local_rank = 0;
};

// RANK, WORLD_SIZE, LOCAL_RANK; SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID; OMPI_COMM_WORLD_*. One
// rank when none is set. Throws InputError when they contradict each other.
RankEnvironment rank_environment();

// Rank 0 writes FILE.NAME, the others wait for it (at most two minutes).
ncclUniqueId shared_id(const std::string& file, const std::string& name, bool creator);

}  // namespace amsp::bench
