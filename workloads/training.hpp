// SPDX-License-Identifier: Apache-2.0
// The training setting of a job.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.hpp"
#include "base/json_value.hpp"
#include "base/quantity.hpp"

namespace amsp {

// selective: the outputs of norms and of the MLP's activation are computed again (a fused attention
// never stores its square); full: whole layers from their input.
enum class Recompute { none, selective, full };

// Cross entropy over the vocabulary: one kernel that keeps the logits (in fp32) and turns them into
// their gradient in place, or PyTorch's log_softmax and nll_loss, which keep copies.
enum class Loss { fused, plain };

struct Training {
  std::int64_t sequence_length = 4096;
  std::int64_t micro_batch = 1;      // sequences
  std::int64_t global_batch = 1024;  // sequences per optimizer step, over all GPUs
  Dtype dtype = Dtype::bf16;         // of P and G; OS are fp32 (Adam: 12 bytes a parameter)
  Recompute recompute = Recompute::none;
  Loss loss = Loss::fused;
  Bytes memory_reserve = gibibytes(2);  // left free on the GPU before a run "fits"
  bool operator==(const Training&) const = default;
};

// {"sequence_length": 4096, "micro_batch": 1, "global_batch": 1024 | "4Mi tokens"}; see
// docs/formats/training.md.
Training parse_training(const JsonValue& json);
std::string_view name_of(Recompute recompute);
std::vector<std::string> recompute_names();
// The multiples of `unit` below and above a value that is none: "994 or 1001"; above 0.
std::string nearest_multiples(std::int64_t value, std::int64_t unit);
// Micro-batches per step for this many data-parallel ranks; throws InputError when
// global_batch is not a multiple of micro_batch x ranks (and says which values would do).
std::int64_t micro_batches(const Training& training, int data_parallel_ranks);

}  // namespace amsp
