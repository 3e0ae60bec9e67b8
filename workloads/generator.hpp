// SPDX-License-Identifier: Apache-2.0
// From model x training x strategy x data-parallel mesh to a schedule, and what the job costs in
// useful FLOPs.
#pragma once
#include "base/quantity.hpp"
#include "workloads/model_shape.hpp"
#include "workloads/schedule.hpp"
#include "workloads/strategy.hpp"
#include "workloads/training.hpp"

namespace amsp {

// Throws InputError when the combination breaks a rule.
Schedule generate_schedule(const ModelShape& model, const Training& training,
                           const Strategy& strategy, Mesh data_parallel);

// Megatron's model FLOPs of one token, forward and backward, attention not halved, recompute not
// counted (6 x matrix parameters + 12 x layers x heads x head_dim x sequence; embedding lookup
// not counted, output projection counted).
Flops model_flops_per_token(const ModelShape& model, std::int64_t sequence_length);

// Parameters of the model (tied embeddings once).
double parameter_count(const ModelShape& model);

}  // namespace amsp
