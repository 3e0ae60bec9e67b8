// SPDX-License-Identifier: Apache-2.0
// The kernels of a step and the memory they leave behind. HBM bytes are counted kernel by kernel as
// PyTorch with fused norms, in-place rotary embedding, FlashAttention and a fused SwiGLU runs them
// (docs/model/40-schedule.md has the table); a bf16 element is 2 bytes. Dropout is off.
#include "workloads/model_stages.hpp"

namespace amsp {
namespace {

class StageList {
 public:
  StageList(const ModelShape& model, const Training& training)
      : m_(model),
        t_(training),
        tokens_(training.micro_batch * training.sequence_length),
        queries_(model.heads * model.head_dim),
        keys_(model.kv_heads * model.head_dim) {}

  std::vector<Stage> build() {
    embedding();
    for (int layer = 0; layer < m_.layers; ++layer) {
      qkv(layer);
      attention(layer);
      out(layer);
      up(layer);
      act(layer);
      down(layer);
    }
    head();
    loss();
    return std::move(stages_);
  }

 private:
  // `bytes_per_token_element` bytes for each of tokens x width elements.
  Bytes sized(double bytes_per_token_element, std::int64_t width) const {
    return Bytes(bytes_per_token_element * static_cast<double>(tokens_) *
                 static_cast<double>(width));
  }
  Kernel elementwise(Bytes bytes, Dtype dtype = Dtype::bf16) const {
    Kernel kernel;
    kernel.kind = KernelClass::elementwise;
    kernel.dtype = dtype == Dtype::bf16 ? t_.dtype : dtype;
    kernel.hbm = bytes;
    return kernel;
  }
  Kernel gemm(std::int64_t m, std::int64_t n, std::int64_t k) const {
    Kernel kernel;
    kernel.kind = KernelClass::gemm;
    kernel.dtype = t_.dtype;
    kernel.m = m;
    kernel.n = n;
    kernel.k = k;
    return kernel;
  }
  Kernel attend(KernelClass kind) const {
    Kernel kernel;
    kernel.kind = kind;
    kernel.dtype = t_.dtype;
    kernel.sequences = t_.micro_batch;
    kernel.sequence_length = t_.sequence_length;
    kernel.heads = m_.heads;
    kernel.kv_heads = m_.kv_heads;
    kernel.head_dim = m_.head_dim;
    return kernel;
  }

  // Fused norm: forward reads x and writes y; backward reads dy and x, writes dx, and a second
  // kernel reads dy and x again for the weight (apex, flash-attn).
  Kernel norm_forward(std::int64_t width) const { return elementwise(sized(4, width)); }
  Kernel norm_backward(std::int64_t width) const { return elementwise(sized(10, width)); }
  // residual = x + y: two reads, one write; the same for adding the branch's gradient.
  Kernel residual() const { return elementwise(sized(6, m_.hidden)); }

  Stage& stage(const std::string& name, int layer, bool has_module) {
    Stage stage;
    stage.name = name;
    stage.layer = layer;
    if (has_module) stage.module = modules_++;
    stages_.push_back(std::move(stage));
    return stages_.back();
  }

  // y = x W (one GEMM of `in` x `out`), its two gradients, and the column sum for a bias.
  void linear(Stage& stage, std::int64_t in, std::int64_t out, bool bias) const {
    stage.forward.push_back(gemm(tokens_, out, in));
    stage.weight_gradient.push_back(gemm(out, in, tokens_));
    if (bias) stage.weight_gradient.push_back(elementwise(sized(2, out)));
    stage.input_gradient.push_back(gemm(tokens_, in, out));
  }

  // The output of the norm before the stage's matrix.
  void keep_normed(Stage& stage) const {
    stage.saved += sized(2, m_.hidden);
    stage.recomputable = sized(2, m_.hidden);
    stage.recompute = {norm_forward(m_.hidden)};
  }

  // A norm of the stage's output (bloom, gemma2, gemma3): backward reads its input, so that is
  // kept.
  void norm_behind(Stage& stage) const {
    stage.forward.push_back(norm_forward(m_.hidden));
    stage.weight_gradient.insert(stage.weight_gradient.begin(), norm_backward(m_.hidden));
    stage.saved += sized(2, m_.hidden);
  }

  void embedding() {
    Stage& s = stage("embedding", -1, true);
    s.forward.push_back(elementwise(sized(4, m_.hidden)));  // read a row, write it
    // Dense gradient of the table: zeros (written), then rows read, added and written.
    s.weight_gradient.push_back(elementwise(
        sized(6, m_.hidden) +
        Bytes(2.0 * static_cast<double>(m_.vocabulary) * static_cast<double>(m_.hidden))));
    // Autograd adds it to the one from the head: two reads, one write.
    if (m_.tied_embeddings)
      s.weight_gradient.push_back(elementwise(
          Bytes(6.0 * static_cast<double>(m_.vocabulary) * static_cast<double>(m_.hidden))));
    if (m_.learned_positions > 0) {
      s.forward.push_back(residual());
      s.weight_gradient.push_back(elementwise(sized(4, m_.hidden)));
    }
    if (m_.embedding_norm) norm_behind(s);
    s.incoming = sized(2, m_.hidden);
  }

  void qkv(int layer) {
    Stage& s = stage("qkv", layer, true);
    const std::int64_t width = queries_ + 2 * keys_;
    if (m_.norms_per_layer >= 1) s.forward.push_back(norm_forward(m_.hidden));
    // Rotary embedding in place: reads and writes queries and keys.
    const bool rotary = m_.learned_positions == 0 && !m_.embedding_norm;
    if (rotary) s.weight_gradient.push_back(elementwise(sized(4, queries_ + keys_)));
    if (m_.query_key_norm) s.weight_gradient.push_back(norm_backward(queries_ + keys_));
    linear(s, m_.hidden, width, m_.attention_bias);
    if (m_.query_key_norm) s.forward.push_back(norm_forward(queries_ + keys_));
    if (rotary) s.forward.push_back(elementwise(sized(4, queries_ + keys_)));
    if (m_.norms_per_layer >= 1) s.input_gradient.push_back(norm_backward(m_.hidden));
    s.input_gradient.push_back(residual());
    // Layer input 2, normed input 2, queries, keys and values (InternEvo mem.py: 118/3 b s h).
    s.saved = sized(2, m_.hidden) + sized(2, width);
    if (m_.query_key_norm) s.saved += sized(2, queries_ + keys_);  // that norm's input
    if (m_.norms_per_layer >= 1) keep_normed(s);
    s.incoming = sized(2, width);
  }

  void attention(int layer) {
    Stage& s = stage("attention", layer, false);
    s.forward.push_back(attend(KernelClass::attention_forward));
    s.input_gradient.push_back(attend(KernelClass::attention_backward));
    s.saved = sized(2, queries_);
    s.incoming = sized(2, queries_);
    s.outgoing = sized(2, queries_ + 2 * keys_);
  }

  void out(int layer) {
    Stage& s = stage("out", layer, true);
    linear(s, queries_, m_.hidden, m_.output_bias);
    s.saved = sized(2, queries_);
    if (m_.norms_per_layer >= 3) norm_behind(s);
    s.forward.push_back(residual());
    s.outgoing = sized(2, queries_);
  }

  void up(int layer) {
    Stage& s = stage("up", layer, true);
    const std::int64_t width = (m_.gated_mlp ? 2 : 1) * m_.intermediate;
    if (m_.norms_per_layer >= 2) s.forward.push_back(norm_forward(m_.hidden));
    linear(s, m_.hidden, width, m_.mlp_bias);
    if (m_.norms_per_layer >= 2) s.input_gradient.push_back(norm_backward(m_.hidden));
    s.input_gradient.push_back(residual());
    s.saved = sized(2, width);
    // Side by side with the attention it reads the layer's input, and behind one norm that norm's
    // output: the qkv stage keeps them.
    if (!m_.parallel_blocks) s.saved += sized(2, m_.hidden);
    if (m_.norms_per_layer >= 2) keep_normed(s);
    s.incoming = sized(2, width);
  }

  void act(int layer) {
    Stage& s = stage("act", layer, false);
    // Gated: silu(gate) * up in one kernel: reads two, writes one; backward reads three, writes
    // two. Plain: reads one, writes one; backward reads two, writes one.
    s.forward.push_back(elementwise(sized(m_.gated_mlp ? 6 : 4, m_.intermediate)));
    s.input_gradient.push_back(elementwise(sized(m_.gated_mlp ? 10 : 6, m_.intermediate)));
    // The product and, gated, silu(gate), which the reference formula keeps as well.
    s.saved = sized(m_.gated_mlp ? 4 : 2, m_.intermediate);
    s.recomputable = s.saved;
    s.recompute = s.forward;
    s.incoming = sized(2, m_.intermediate);
    s.outgoing = sized(m_.gated_mlp ? 4 : 2, m_.intermediate);
  }

  void down(int layer) {
    Stage& s = stage("down", layer, true);
    linear(s, m_.intermediate, m_.hidden, m_.mlp_bias);
    if (m_.norms_per_layer >= 4) norm_behind(s);
    s.forward.push_back(residual());
    s.outgoing = sized(2, m_.intermediate);
  }

  void head() {
    Stage& s = stage("head", -1, true);
    s.forward.push_back(norm_forward(m_.hidden));
    linear(s, m_.hidden, m_.vocabulary, m_.head_bias);
    s.input_gradient.push_back(norm_backward(m_.hidden));
    s.saved = sized(6, m_.hidden);  // norm output in fp32 and the head's input (InternEvo mem.py)
    s.incoming = sized(2, m_.vocabulary);
    s.outgoing = sized(2, m_.hidden);
  }

  // Cross entropy over the vocabulary in fp32: cast (read 2, write 4), one pass of reading 4 that
  // keeps the logarithm of the sum; backward in place (read 4, write 4) and the cast back.
  void loss() {
    Stage& s = stage("loss", -1, false);
    s.forward = {elementwise(sized(6, m_.vocabulary), Dtype::fp32),
                 elementwise(sized(4, m_.vocabulary), Dtype::fp32)};
    s.input_gradient = {elementwise(sized(8, m_.vocabulary), Dtype::fp32),
                        elementwise(sized(6, m_.vocabulary), Dtype::fp32)};
    s.saved = sized(4, m_.vocabulary);
    s.outgoing = sized(2, m_.vocabulary);
    if (t_.loss == Loss::plain) plain_loss(s);
  }

  // PyTorch: logits.float(), log_softmax into a new tensor, which is what is saved; backward
  // nll_loss writes a gradient of zeros and rows, log_softmax reads both and writes a third.
  void plain_loss(Stage& s) const {
    s.forward = {elementwise(sized(6, m_.vocabulary), Dtype::fp32),
                 elementwise(sized(8, m_.vocabulary), Dtype::fp32)};
    s.input_gradient = {elementwise(sized(4, m_.vocabulary), Dtype::fp32),
                        elementwise(sized(12, m_.vocabulary), Dtype::fp32),
                        elementwise(sized(6, m_.vocabulary), Dtype::fp32)};
    s.forward_only = sized(4, m_.vocabulary);
    // Of two fp32 gradients one is gone before the 16-bit one (`outgoing`) is made.
    s.backward_only = sized(6, m_.vocabulary);
  }

  const ModelShape& m_;
  const Training& t_;
  std::int64_t tokens_, queries_, keys_;
  int modules_ = 0;
  std::vector<Stage> stages_;
};

}  // namespace

std::vector<Stage> stages_of(const ModelShape& model, const Training& training) {
  return StageList(model, training).build();
}

}  // namespace amsp
