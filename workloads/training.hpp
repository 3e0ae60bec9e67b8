// SPDX-License-Identifier: Apache-2.0
// The training setting of a job.
#pragma once
#include <cstdint>

#include "base/dtype.hpp"
#include "base/json_value.hpp"
#include "base/quantity.hpp"

namespace amsp {

enum class Recompute { none, selective, full };

struct Training {
  std::int64_t sequence_length = 4096;
  std::int64_t micro_batch = 1;      // sequences
  std::int64_t global_batch = 1024;  // sequences per optimizer step, over all GPUs
  Dtype dtype = Dtype::bf16;         // of P and G; OS are fp32 (Adam: 12 bytes a parameter)
  Recompute recompute = Recompute::none;
  Bytes memory_reserve = gibibytes(2);  // left free on the GPU before a run "fits"
};

// {"sequence_length": 4096, "micro_batch": 1, "global_batch": 1024 | "4MiTokens"…}; see
// docs/formats/scenario.md.
Training parse_training(const JsonValue& json);
// Micro-batches per step for this many data-parallel ranks; throws InputError when
// global_batch is not a multiple of micro_batch x ranks (and says which values would do).
std::int64_t micro_batches(const Training& training, int data_parallel_ranks);

}  // namespace amsp
