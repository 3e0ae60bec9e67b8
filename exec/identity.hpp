// SPDX-License-Identifier: Apache-2.0
// Which rank this process is, as its launcher says in environment variables.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "base/id.hpp"

namespace amsp {

struct RankIdentity {
  Rank rank;
  int world = 1;
  int local_rank = 0;
  std::string address;   // where rank 0 is
  int port = 0;          // where rank 0 listens
  std::string launcher;  // "torchrun", "srun", "mpirun"
};

// value of an environment variable, or empty
using Environment = std::function<std::optional<std::string>(const std::string&)>;
Environment process_environment();

// From torchrun (RANK, WORLD_SIZE, LOCAL_RANK), mpirun (OMPI_COMM_WORLD_*) or srun (SLURM_*), in
// this order; MASTER_ADDR and MASTER_PORT always count. Empty without any of them. Throws
// InputError when a variable is missing or no sensible number.
std::optional<RankIdentity> rank_identity(const Environment& environment);

// "gpu[03-05,9],login" → "gpu03": the first host of a Slurm node list.
std::string first_slurm_host(const std::string& node_list);

}  // namespace amsp
