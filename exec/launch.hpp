// SPDX-License-Identifier: Apache-2.0
// Starts a job's ranks, or takes part in a job that somebody else started.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "exec/identity.hpp"
#include "exec/job.hpp"
#include "exec/trace.hpp"

namespace amsp {

// Where local ranks run: "" = here; else a network namespace for each rank (exec/testbed).
struct LocalPlaces {
  std::vector<std::string> namespaces;  // by rank; empty = all here
};

// Forks one process per rank of the schedule's world, waits for all and joins their times. No
// process is left behind, however this ends. Must be called while the process has one thread.
// Throws CheckFailed naming the rank that died, hung or computed a wrong result, or when a signal
// (SIGINT, SIGTERM, SIGHUP) asks to stop; InputError when the job cannot run.
ExecTrace run_local(const ExecJob& job, const LocalPlaces& places = {});

// This process is one rank of a job started by torchrun, srun or mpirun. Rank 0 gets the trace.
// Throws as run_local does; other ranks than 0 learn the reason from rank 0.
std::optional<ExecTrace> run_as_rank(const ExecJob& job, const RankIdentity& self);

// Namespaces of the testbed of this name, in the order of ranks. Throws InputError when there is
// no such testbed.
std::vector<std::string> testbed_namespaces(const std::string& name);

}  // namespace amsp
