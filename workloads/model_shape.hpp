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
  bool attention_bias = false;
  bool mlp_bias = false;
  bool layer_norm_bias = false;        // LayerNorm (weight and bias) instead of RMSNorm
  std::int64_t learned_positions = 0;  // GPT-2, OPT: rows of a learned position table
  std::string hash;                    // SHA-256 of the file's text
};

ModelShape load_model(std::string_view name_or_path);
ModelShape parse_model(const JsonValue& json, std::string_view name);

}  // namespace amsp
