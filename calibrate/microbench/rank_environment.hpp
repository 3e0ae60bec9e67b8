// SPDX-License-Identifier: Apache-2.0
// Which rank this process is, as the launcher says (torchrun, srun, mpirun), and how ranks agree on
// a communicator: NCCL's unique id in a file that all of them see.
#pragma once
#include <nccl.h>

#include <filesystem>
#include <optional>
#include <string>

namespace amsp::bench {

struct RankEnvironment {
  int rank = 0;
  int size = 1;
  int local_rank = 0;
  std::optional<int> local_size;  // ranks on each node, where the launcher says
  std::string job;                // the launcher's name of this run; "" where it gives none
};

// RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE; SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID,
// SLURM_NTASKS_PER_NODE; OMPI_COMM_WORLD_*. One rank when none is set. Throws InputError when they
// contradict each other.
RankEnvironment rank_environment();

// FILE.JOB.NAME
std::filesystem::path id_file(const std::string& file, const RankEnvironment& here,
                              const std::string& name);
// Rank 0 writes the file, the others wait for it (at most two minutes).
ncclUniqueId shared_id(const std::filesystem::path& path, bool creator);

}  // namespace amsp::bench
