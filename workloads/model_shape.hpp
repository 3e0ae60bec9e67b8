// SPDX-License-Identifier: Apache-2.0
// The shape of a decoder-only transformer (docs/formats/model.md). A Hugging Face config.json is
// read as it is; mixture-of-experts shapes are refused with a message.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/json_value.hpp"

namespace amsp {

struct ModelShape {
  std::string name;  // "llama-7b", or the file's stem
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;  // = heads without grouped-query attention
  std::int64_t head_dim = 0;  // hidden / heads unless stated
  std::int64_t intermediate = 0;
  bool gated_mlp = true;  // SwiGLU/GeGLU: three matrices; plain: two
  std::int64_t vocabulary = 0;
  bool tied_embeddings = false;
  bool attention_bias = false;  // of the query, key and value projections
  bool output_bias = false;     // of the attention's output projection
  bool mlp_bias = false;
  bool head_bias = false;              // phi, gpt-j: of the output head
  bool layer_norm_bias = false;        // LayerNorm (weight and bias) instead of RMSNorm
  int norms_per_layer = 2;             // gemma2, gemma3: 4; one for attention and MLP: 1
  bool parallel_blocks = false;        // attention and MLP read the same input (gptj, falcon)
  bool query_key_norm = false;         // qwen3, gemma3: a norm per head on queries and keys
  bool embedding_norm = false;         // bloom: a norm behind the embedding
  std::int64_t learned_positions = 0;  // GPT-2, OPT: rows of a learned position table
  std::string hash;                    // SHA-256 of the file's text
  bool operator==(const ModelShape&) const = default;
};

// Throw InputError with the place of what is missing, inconsistent or not modelled (mixture of
// experts, other attention than multi-head with grouped queries).
ModelShape load_model(std::string_view name_or_path);
ModelShape parse_model(const JsonValue& json, std::string_view name);

}  // namespace amsp
