// SPDX-License-Identifier: Apache-2.0
#include "workloads/generator.hpp"
#include "workloads/model_stages.hpp"

namespace amsp {
namespace {

class ModuleList {
 public:
  explicit ModuleList(const ModelShape& model) : m_(model) {}

  std::vector<Module> build() {
    embedding();
    for (int layer = 0; layer < m_.layers; ++layer) {
      attention(layer);
      mlp(layer);
    }
    head();
    return std::move(modules_);
  }

 private:
  void norm(Module& module, const std::string& name) const {
    module.tensors.push_back({name, m_.hidden});
    if (m_.layer_norm_bias) module.tensors.push_back({name + ".bias", m_.hidden});
  }

  void matrix(Module& module, const std::string& name, std::int64_t in, std::int64_t out,
              bool bias) const {
    module.tensors.push_back({name, in * out});
    if (bias) module.tensors.push_back({name + ".bias", out});
  }

  void embedding() {
    Module module{"embedding", -1, {}};
    module.tensors.push_back({"table", m_.vocabulary * m_.hidden});
    if (m_.learned_positions > 0)
      module.tensors.push_back({"positions", m_.learned_positions * m_.hidden});
    if (m_.embedding_norm) norm(module, "norm");
    modules_.push_back(std::move(module));
  }

  void attention(int layer) {
    const std::int64_t queries = m_.heads * m_.head_dim;
    const std::int64_t keys = m_.kv_heads * m_.head_dim;
    Module qkv{"qkv", layer, {}};
    if (m_.norms_per_layer >= 1) norm(qkv, "norm");
    matrix(qkv, "query", m_.hidden, queries, m_.attention_bias);
    matrix(qkv, "key", m_.hidden, keys, m_.attention_bias);
    matrix(qkv, "value", m_.hidden, keys, m_.attention_bias);
    if (m_.query_key_norm) {
      qkv.tensors.push_back({"query_norm", m_.head_dim});
      qkv.tensors.push_back({"key_norm", m_.head_dim});
    }
    modules_.push_back(std::move(qkv));
    Module out{"out", layer, {}};
    matrix(out, "output", queries, m_.hidden, m_.output_bias);
    if (m_.norms_per_layer >= 3) norm(out, "norm");
    modules_.push_back(std::move(out));
  }

  void mlp(int layer) {
    Module up{"up", layer, {}};
    if (m_.norms_per_layer >= 2) norm(up, "norm");
    if (m_.gated_mlp) matrix(up, "gate", m_.hidden, m_.intermediate, m_.mlp_bias);
    matrix(up, "up", m_.hidden, m_.intermediate, m_.mlp_bias);
    modules_.push_back(std::move(up));
    Module down{"down", layer, {}};
    matrix(down, "down", m_.intermediate, m_.hidden, m_.mlp_bias);
    if (m_.norms_per_layer >= 4) norm(down, "norm");
    modules_.push_back(std::move(down));
  }

  void head() {
    Module module{"head", -1, {}};
    norm(module, "norm");
    if (!m_.tied_embeddings) module.tensors.push_back({"head", m_.hidden * m_.vocabulary});
    if (m_.head_bias) module.tensors.push_back({"head.bias", m_.vocabulary});
    modules_.push_back(std::move(module));
  }

  const ModelShape& m_;
  std::vector<Module> modules_;
};

}  // namespace

std::int64_t Module::parameters() const {
  std::int64_t sum = 0;
  for (const Tensor& tensor : tensors) sum += tensor.elements;
  return sum;
}

std::vector<Module> modules_of(const ModelShape& model) { return ModuleList(model).build(); }

double parameter_count(const ModelShape& model) {
  double sum = 0;
  for (const Module& module : modules_of(model)) sum += static_cast<double>(module.parameters());
  return sum;
}

Flops model_flops_per_token(const ModelShape& model, std::int64_t sequence_length) {
  const auto real = [](std::int64_t value) { return static_cast<double>(value); };
  const double attention_width = real(model.heads * model.head_dim);
  const double attention =
      real(model.hidden) * (2 * attention_width + 2 * real(model.kv_heads * model.head_dim));
  const double mlp = (model.gated_mlp ? 3.0 : 2.0) * real(model.hidden) * real(model.intermediate);
  const double matrices =
      real(model.layers) * (attention + mlp) + real(model.hidden) * real(model.vocabulary);
  // Two products (QK^T, PV) of 2 s a d FLOP a token, and twice that backward.
  const double square = 12.0 * real(model.layers) * attention_width * real(sequence_length);
  return Flops(6.0 * matrices + square);
}

}  // namespace amsp
