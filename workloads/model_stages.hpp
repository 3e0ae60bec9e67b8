// SPDX-License-Identifier: Apache-2.0
// A model as modules (what is sharded, gathered and reduced) and as stages (what is computed).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/kernel.hpp"
#include "base/quantity.hpp"
#include "workloads/model_shape.hpp"
#include "workloads/training.hpp"

namespace amsp {

struct Tensor {
  std::string name;
  std::int64_t elements = 0;
};

// A norm belongs to the matrix behind it, so that the modules hold every parameter once.
struct Module {
  std::string name;  // "embedding", "qkv", "out", "up", "down", "head"
  int layer = -1;
  std::vector<Tensor> tensors;
  [[nodiscard]] std::int64_t parameters() const;
};

// In forward order: embedding, the layers' modules, head. A tied table belongs to the embedding.
std::vector<Module> modules_of(const ModelShape& model);

// One group of kernels. The backward pass of a module's stage is split in two: the gradient of its
// weights (with what comes before it: rotary embedding, bias sums) and of its input (with the
// norm).
struct Stage {
  std::string name;
  int layer = -1;
  int module = -1;  // index into modules_of, or -1
  std::vector<Kernel> forward, weight_gradient, input_gradient;
  Bytes saved;                        // activations kept for the backward pass
  Bytes recomputable;                 // of these, what selective recompute drops …
  std::vector<Kernel> recompute;      // … and the kernels that make it again
  Bytes incoming, outgoing;           // gradients: freed after, made by, the backward pass
  Bytes forward_only, backward_only;  // copies that are gone when the pass is over
};

std::vector<Stage> stages_of(const ModelShape& model, const Training& training);

}  // namespace amsp
