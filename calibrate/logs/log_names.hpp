// SPDX-License-Identifier: Apache-2.0
// Names as logs spell them, in the spelling of this program.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/collective_kind.hpp"

namespace amsp {

class Algorithm;

std::string algorithm_name(std::string_view word);  // "RING" → "ring", "NVLSTree" → "nvls_tree"
std::string protocol_name(std::string_view word);   // "SIMPLE" → "Simple"
bool is_algorithm(std::string_view word);
std::optional<Algorithm> algorithm_named(std::string_view word);  // also by a variant's name
bool is_protocol(std::string_view word);

// "all_reduce_perf_mpi", "./build/alltoall_perf", "AllReduce", "allgather" → kind.
std::optional<CollectiveKind> collective_named(std::string_view word);
// The first program of a test suite that a line names ("… ./all_reduce_perf -b 8 …"), or "".
std::string_view test_program(std::string_view line);

// NCCL's version as a number: 22902 → "2.29.2", 2804 → "2.8.4".
std::string version_of_code(long long code);

}  // namespace amsp
