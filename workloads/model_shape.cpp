// SPDX-License-Identifier: Apache-2.0
#include "workloads/model_shape.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "base/file.hpp"
#include "workloads/hugging_face.hpp"

namespace amsp {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 31;
// No product of dimensions overflows 63 bits, and no schedule outgrows the memory of a laptop.
constexpr std::int64_t kMostLayers = 4096;
constexpr std::int64_t kMostHeads = 1 << 16;
constexpr std::int64_t kWidest = 1 << 26;

ModelShape parse_own(const JsonValue& json) {
  json.accept_keys({"description",     "sources",        "layers",          "hidden",
                    "heads",           "kv_heads",       "head_dim",        "intermediate",
                    "gated_mlp",       "vocabulary",     "tied_embeddings", "attention_bias",
                    "output_bias",     "mlp_bias",       "head_bias",       "layer_norm_bias",
                    "norms_per_layer", "query_key_norm", "embedding_norm",  "learned_positions",
                    "parallel_blocks"});
  const auto number = [&](std::string_view key) { return json.at(key).as_integer(1, kLargest); };
  const auto flag = [&](std::string_view key, bool otherwise) {
    const auto found = json.find(key);
    return found ? found->as_bool() : otherwise;
  };
  ModelShape model;
  model.layers = number("layers");
  model.hidden = number("hidden");
  model.heads = number("heads");
  model.intermediate = number("intermediate");
  model.vocabulary = number("vocabulary");
  model.kv_heads = json.find("kv_heads") ? number("kv_heads") : model.heads;
  model.head_dim = json.find("head_dim") ? number("head_dim") : 0;
  model.gated_mlp = flag("gated_mlp", true);
  model.tied_embeddings = flag("tied_embeddings", false);
  model.attention_bias = flag("attention_bias", false);
  model.output_bias = flag("output_bias", false);
  model.mlp_bias = flag("mlp_bias", false);
  model.head_bias = flag("head_bias", false);
  model.layer_norm_bias = flag("layer_norm_bias", false);
  model.query_key_norm = flag("query_key_norm", false);
  model.embedding_norm = flag("embedding_norm", false);
  if (const auto norms = json.find("norms_per_layer"))
    model.norms_per_layer = static_cast<int>(norms->as_integer(0, 8));
  model.parallel_blocks = flag("parallel_blocks", model.norms_per_layer == 1);
  if (model.norms_per_layer == 1 && !model.parallel_blocks)
    json.at("parallel_blocks").fail("with one norm a layer, attention and MLP share its output");
  if (const auto positions = json.find("learned_positions"))
    model.learned_positions = positions->as_integer(0, kLargest);
  if (const auto sources = json.find("sources"))
    for (const JsonValue& source : sources->items()) static_cast<void>(source.as_string());
  return model;
}

void check_limits(const ModelShape& model, const JsonValue& json) {
  const auto limit = [&](std::string_view what, std::int64_t value, std::int64_t most) {
    if (value > most) json.fail(fmt::format("{} {}; at most {}", value, what, most));
  };
  limit("layers", model.layers, kMostLayers);
  limit("heads", model.heads, kMostHeads);
  limit("as head dimension", model.head_dim, kMostHeads);
  for (const std::int64_t width :
       {model.hidden, model.intermediate, model.vocabulary, model.learned_positions})
    limit("as a width of a matrix", width, kWidest);
}

void finish(ModelShape& model, const JsonValue& json) {
  if (model.head_dim == 0) {
    if (model.hidden % model.heads != 0)
      json.fail(
          fmt::format("hidden size {} is not a multiple of {} heads; state the head "
                      "dimension (\"head_dim\")",
                      model.hidden, model.heads));
    model.head_dim = model.hidden / model.heads;
  }
  if (model.heads % model.kv_heads != 0)
    json.fail(fmt::format("{} heads cannot share {} key-value heads evenly", model.heads,
                          model.kv_heads));
  check_limits(model, json);
}

// A Hugging Face checkout: the folder says which model its config.json is, also from within it.
std::string name_of_model(const std::filesystem::path& file) {
  const std::string stem = file.stem().string();
  if (stem != "config") return stem;
  std::filesystem::path folder = file.parent_path();
  if (const auto last = folder.filename(); last.empty() || last == "." || last == "..") {
    std::error_code error;
    folder = std::filesystem::canonical(folder.empty() ? "." : folder, error);
  }
  return folder.filename().empty() ? stem : folder.filename().string();
}

}  // namespace

ModelShape parse_model(const JsonValue& json, std::string_view name) {
  if (!json.is_object()) json.fail("a model is an object: a Hugging Face config.json or our own");
  refuse_unmodelled(json);
  ModelShape model = is_hugging_face(json) ? parse_hugging_face(json) : parse_own(json);
  model.name = std::string(name);
  finish(model, json);
  return model;
}

ModelShape load_model(std::string_view name_or_path) {
  const std::filesystem::path file = resolve_data("model", "workloads/models", name_or_path);
  ModelShape model = parse_model(JsonValue::parse_file(file), name_of_model(file));
  model.hash = sha256(read_file(file));
  return model;
}

}  // namespace amsp
