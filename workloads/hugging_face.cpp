// SPDX-License-Identifier: Apache-2.0
// What each model type's config.json means follows the configuration and modelling files of
// Hugging Face transformers (models/TYPE/configuration_TYPE.py): key names, and the defaults of
// keys that may be absent.
#include "workloads/hugging_face.hpp"

#include <algorithm>
#include <array>

namespace amsp {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 31;
using Keys = std::initializer_list<std::string_view>;

// What a family of model types has in common where the file does not say otherwise.
struct Family {
  std::string_view type;
  bool gated = true;
  bool tied = false;
  bool layer_norm = false;  // LayerNorm with bias
  bool attention_bias = false;
  bool output_bias = false;
  bool mlp_bias = false;
  int norms = 2;
  bool query_key_norm = false;
  bool head_bias = false;
  bool parallel = false;  // attention and MLP side by side
};

// Most older types have LayerNorm, a plain MLP and a bias in every projection.
constexpr Family biased(std::string_view type, bool tied) {
  return {.type = type,
          .gated = false,
          .tied = tied,
          .layer_norm = true,
          .attention_bias = true,
          .output_bias = true,
          .mlp_bias = true};
}
// Attention and MLP side by side.
constexpr Family parallel(Family family, int norms) {
  family.norms = norms;
  family.parallel = true;
  return family;
}
constexpr Family with_head_bias(Family family) {
  family.head_bias = true;
  return family;
}
constexpr Family without_attention_bias(Family family) {
  family.attention_bias = false;
  return family;
}

constexpr std::array kFamilies{
    Family{.type = "llama"},
    Family{.type = "mistral"},
    Family{.type = "ministral"},
    Family{.type = "internlm2"},
    Family{.type = "internlm3"},
    Family{.type = "baichuan"},
    Family{.type = "granite"},
    Family{.type = "olmo2", .query_key_norm = true},
    Family{.type = "exaone"},
    Family{.type = "smollm3"},
    Family{.type = "phi3"},
    Family{.type = "qwen2", .attention_bias = true},
    Family{.type = "qwen3", .query_key_norm = true},
    Family{.type = "internlm", .attention_bias = true, .output_bias = true},
    Family{.type = "gemma", .tied = true},
    Family{.type = "gemma2", .tied = true, .norms = 4},
    Family{.type = "gemma3_text", .tied = true, .norms = 4, .query_key_norm = true},
    Family{.type = "stablelm", .layer_norm = true},
    biased("starcoder2", true),
    with_head_bias(parallel(biased("phi", false), 1)),
    biased("gpt2", true),
    biased("gpt_bigcode", true),
    without_attention_bias(biased("gpt_neo", true)),
    Family{.type = "gptj",
           .gated = false,
           .layer_norm = true,
           .mlp_bias = true,
           .norms = 1,
           .head_bias = true,
           .parallel = true},
    parallel(biased("gpt_neox", false), 2),
    biased("opt", true),
    biased("bloom", true),
    parallel({.type = "falcon", .gated = false, .tied = true, .layer_norm = true}, 1)};

// Multimodal types by the type of their language model: where its part of the file names none, or
// where it stands among the other keys.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kLanguageModels{
    {{"gemma3", "gemma3_text"},
     {"mistral3", "mistral"},
     {"qwen2_vl", "qwen2"},
     {"qwen2_5_vl", "qwen2"}}};

std::vector<std::string> known_types() {
  std::vector<std::string> names;
  for (const Family& family : kFamilies) names.emplace_back(family.type);
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<JsonValue> find_any(const JsonValue& json, Keys keys) {
  for (const std::string_view key : keys)
    if (auto found = json.find(key); found && !found->is_null()) return found;
  return std::nullopt;
}

std::int64_t demand(const JsonValue& json, Keys keys) {
  if (const auto found = find_any(json, keys)) return found->as_integer(1, kLargest);
  std::string wanted;
  for (const std::string_view key : keys)
    wanted += (wanted.empty() ? "\"" : " or \"") + std::string(key) + "\"";
  json.fail("this Hugging Face configuration lacks " + wanted + ", which the shape needs");
}

std::int64_t number(const JsonValue& json, Keys keys, std::int64_t otherwise) {
  const auto found = find_any(json, keys);
  return found ? found->as_integer(1, kLargest) : otherwise;
}

bool flag(const JsonValue& json, std::string_view key, bool otherwise) {
  const auto found = json.find(key);
  return found && !found->is_null() ? found->as_bool() : otherwise;
}

// Multimodal files keep the language model in "text_config".
JsonValue language_part(const JsonValue& json) {
  const auto text = json.find("text_config");
  return text && text->is_object() && !json.find("hidden_size") ? *text : json;
}

const Family& family_of(const JsonValue& whole) {
  const JsonValue part = language_part(whole);
  const auto own = part.find("model_type");
  const auto outer = whole.find("model_type");
  if (!own && !outer)
    whole.fail("this Hugging Face configuration lacks \"model_type\", e.g. \"llama\"");
  const JsonValue type = own ? *own : *outer;
  std::string name = type.as_string();
  for (const auto& [multimodal, language] : kLanguageModels)
    if (name == multimodal) name = language;
  for (const Family& family : kFamilies)
    if (family.type == name) return family;
  type.fail(unknown_name("model type", name, known_types()) +
            "; another shape can be written in the own format (docs/formats/model.md)");
}

void read_falcon(const JsonValue& json, ModelShape& model) {
  const bool grouped = flag(json, "new_decoder_architecture", false);
  const bool multi_query = flag(json, "multi_query", true);
  const bool parallel = flag(json, "parallel_attn", true);
  model.kv_heads =
      grouped ? number(json, {"num_kv_heads"}, model.heads) : (multi_query ? 1 : model.heads);
  model.norms_per_layer =
      grouped ? static_cast<int>(number(json, {"num_ln_in_parallel_attn"}, 2)) : (parallel ? 1 : 2);
  model.parallel_blocks = grouped || parallel;
  const bool bias = flag(json, "bias", false);
  model.attention_bias = model.output_bias = model.mlp_bias = bias;
}

// Keys with a meaning in one model type only.
void read_particulars(const JsonValue& json, std::string_view type, ModelShape& model) {
  if (type == "gpt2" || type == "gpt_bigcode" || type == "gpt_neo")
    model.learned_positions = demand(json, {"n_positions", "max_position_embeddings", "n_ctx"});
  if (type == "gpt_bigcode" && flag(json, "multi_query", true)) model.kv_heads = 1;
  if (type == "opt") {
    // OPTLearnedPositionalEmbedding has two rows more than positions.
    model.learned_positions = demand(json, {"max_position_embeddings"}) + 2;
    const std::int64_t width = number(json, {"word_embed_proj_dim"}, model.hidden);
    if (width != model.hidden)
      json.fail(
          "embeddings of another width than the hidden size (\"word_embed_proj_dim\", as in "
          "opt-350m) are not modelled");
  }
  if (type == "bloom") model.embedding_norm = true;
  if (type == "falcon") read_falcon(json, model);
  if (type == "stablelm" && flag(json, "use_parallel_residual", false)) {
    model.norms_per_layer = 1;
    model.parallel_blocks = true;
  }
  if (type == "gpt_neox") model.parallel_blocks = flag(json, "use_parallel_residual", true);
}

}  // namespace

bool is_hugging_face(const JsonValue& json) {
  for (const char* key : {"model_type", "architectures", "text_config", "hidden_size", "n_embd"})
    if (json.find(key)) return true;
  return false;
}

void refuse_unmodelled(const JsonValue& json) {
  const JsonValue part = json.is_object() ? language_part(json) : json;
  for (const std::string_view key :
       {"num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts",
        "num_experts_per_tok", "moe_intermediate_size", "experts"})
    if (const auto experts = part.find(key); experts && !experts->is_null())
      if (!experts->is_number() || experts->as_number(-1, 1e9) > 1)
        experts->fail(
            "this is a mixture of experts, which is not modelled yet; only dense "
            "decoder-only transformers are");
  if (const auto rank = part.find("kv_lora_rank"); rank && !rank->is_null())
    rank->fail(
        "multi-head latent attention is not modelled; only multi-head attention with "
        "grouped queries is");
}

ModelShape parse_hugging_face(const JsonValue& whole) {
  const JsonValue json = language_part(whole);
  const Family& family = family_of(whole);
  ModelShape model;
  model.layers = demand(json, {"num_hidden_layers", "n_layer", "num_layers"});
  model.hidden = demand(json, {"hidden_size", "n_embd", "n_embed"});
  const Keys heads{"num_attention_heads", "n_head", "num_heads"};
  if (family.type == "gemma3_text") {
    // Gemma3TextConfig's own values, which the files of the 4B model leave out.
    model.heads = number(json, heads, 8);
    model.kv_heads = number(json, {"num_key_value_heads"}, 4);
    model.head_dim = number(json, {"head_dim"}, 256);
    model.vocabulary = number(json, {"vocab_size"}, 262208);
  } else {
    model.heads = demand(json, heads);
    model.kv_heads = number(json, {"num_key_value_heads"}, model.heads);
    model.head_dim = number(json, {"head_dim"}, 0);
    model.vocabulary = demand(json, {"vocab_size"});
  }
  model.gated_mlp = family.gated;
  const Keys width{"intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size"};
  // Plain transformers may leave out the usual four times the hidden size.
  model.intermediate = family.gated ? demand(json, width) : number(json, width, 4 * model.hidden);
  model.tied_embeddings = flag(json, "tie_word_embeddings", family.tied);
  model.layer_norm_bias = family.layer_norm;
  model.attention_bias =
      flag(json, "attention_bias",
           flag(json, "use_qkv_bias", flag(json, "use_bias", family.attention_bias)));
  // Where llama's "attention_bias" is set, the output projection has one too.
  const bool all_biased = family.type != "qwen2" && family.type != "stablelm";
  model.output_bias =
      all_biased && flag(json, "attention_bias", flag(json, "use_bias", family.output_bias));
  model.mlp_bias = flag(json, "mlp_bias", flag(json, "use_bias", family.mlp_bias));
  model.head_bias = family.head_bias;
  model.norms_per_layer = family.norms;
  model.parallel_blocks = family.parallel;
  model.query_key_norm = family.query_key_norm;
  read_particulars(json, family.type, model);
  return model;
}

}  // namespace amsp
