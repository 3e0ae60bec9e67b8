// SPDX-License-Identifier: Apache-2.0
// Memory of a step: balance, reference formulas, published measurements.
#include "workloads/memory.hpp"

#include <rapidcheck/catch.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "random_jobs.hpp"
#include "workloads/model_stages.hpp"

using namespace amsp;
using namespace amsp::testing;

namespace {

Schedule generate(const ModelShape& model, const Training& training, const std::string& strategy,
                  Mesh dp) {
  return generate_schedule(model, training,
                           parse_strategy(JsonValue::parse_text(strategy, "strategy"), dp), dp);
}

double peak(const ModelShape& model, const Training& training, const std::string& strategy,
            Mesh dp) {
  return estimate_peak_memory(generate(model, training, strategy, dp)).peak.value();
}

Bytes persistent(const Schedule& schedule, MemoryComponent component) {
  for (const PersistentMemory& memory : schedule.persistent)
    if (memory.component == component) return memory.bytes;
  return {};
}

}  // namespace

TEST_CASE("what a step allocates it frees, and nothing is freed before it is there") {
  rc::prop("balance", [] {
    const ModelShape model = random_model();
    const Mesh dp = random_machine();
    Training training = random_training(dp);
    training.loss = *rc::gen::element(Loss::fused, Loss::plain);
    const auto& presets = strategy_presets();
    Strategy s = (*rc::gen::elementOf(presets))->make(dp);
    s.overlap_gather_scatter = *rc::gen::arbitrary<bool>();
    s.overlap_all_reduce = *rc::gen::arbitrary<bool>();
    s.root_unit = *rc::gen::arbitrary<bool>();
    s.bucket = Bytes(*rc::gen::inRange(100000, 40000000));
    if (s.parameters.size() == 1 && s.gradients.size() == 1 && *rc::gen::arbitrary<bool>())
      s.optimizer = s.gradients = random_mesh(dp, {1, 1});
    if (s.optimizer != s.parameters && s.update == ParameterUpdate::none)
      s.update = ParameterUpdate::broadcast;
    const Schedule schedule = generate_schedule(model, training, s, dp);
    std::map<MemoryComponent, double> held;
    for (const Block& block : schedule.blocks) {
      std::map<MemoryComponent, double> at_begin = held;
      for (const OpId id : block.ops)
        for (const bool at_start : {true, false})
          for (const MemoryChange& change : schedule.op(id).memory)
            if (change.at_start == at_start) {
              double& now = held[change.component];
              now += change.delta.value();
              RC_LOG() << s.name << " " << schedule.op(id).name << " " << name_of(change.component)
                       << " " << now << "\n";
              RC_ASSERT(now > -1e-3);
            }
      if (block.repeat > 1)
        for (const auto& [component, bytes] : held)
          RC_ASSERT(std::abs(bytes - at_begin[component]) < 1e-3);
    }
    for (const auto& [component, bytes] : held) {
      RC_LOG() << s.name << " keeps " << bytes << " of " << name_of(component) << "\n";
      RC_ASSERT(std::abs(bytes) < 1e-3);
    }
  });
}

TEST_CASE("model states are the paper's formula") {
  // 2 Phi / s_p + 12 Phi / s_os; G (2 Phi / s_g) comes and goes with the step.
  const double phi = 13015864320.0;
  Training training;
  training.global_batch = 16;
  const Schedule s = generate(load_model("llama-13b"), training,
                              R"({"preset": "amsp", "parameters": "4x1", "optimizer": "8x1",
                                  "inter_tensor_ownership": false})",
                              {8, 1});
  CHECK(persistent(s, MemoryComponent::parameters).value() == Approx(2 * phi / 4));
  CHECK(persistent(s, MemoryComponent::optimizer_states).value() == Approx(12 * phi / 8));
  double gradients = 0;
  for (const Op& op : s.ops)
    for (const MemoryChange& change : op.memory)
      if (change.component == MemoryComponent::gradients && change.delta > Bytes(0))
        gradients += change.delta.value();
  CHECK(gradients == Approx(2 * phi / 4));
}

TEST_CASE("activations of a layer are 118/3 b s h, and 2 b s h with recompute") {
  // InternEvo formulas/mem.py, for an MLP of 8/3 of the hidden size: here h = 4608, f = 12288.
  ModelShape model = load_model("llama-7b");
  model.heads = model.kv_heads = 36;
  model.hidden = 4608;
  model.intermediate = 12288;
  Training training;
  training.sequence_length = 2048;
  training.micro_batch = 3;
  training.global_batch = 3;
  const double bsh = 3.0 * 2048 * 4608;
  const auto activations = [&](std::int64_t layers, Recompute recompute) {
    model.layers = layers;
    training.recompute = recompute;
    double now = 0;
    double largest = 0;
    for (const Op& op : generate(model, training, "\"ddp\"", {1, 1}).ops) {
      if (op.phase != Phase::forward) break;
      for (const MemoryChange& change : op.memory)
        if (change.component == MemoryComponent::activations) now += change.delta.value();
      largest = now;
    }
    return largest;
  };
  CHECK(activations(3, Recompute::none) - activations(2, Recompute::none) ==
        Approx(118.0 / 3 * bsh));
  CHECK(activations(3, Recompute::full) - activations(2, Recompute::full) == Approx(2 * bsh));
  // Selective: without two norm outputs, silu(gate) and the product.
  CHECK(activations(3, Recompute::selective) - activations(2, Recompute::selective) ==
        Approx((118.0 / 3 - 4 - 4 * 8.0 / 3) * bsh));
}

TEST_CASE("norms behind a projection, and on queries and keys, keep their inputs") {
  // gemma2, gemma3: 2 b s h behind the attention and behind the MLP; qwen3, gemma3: 2 b s (a + k) d
  // before queries and keys are normed. Without the norms nothing else differs.
  ModelShape model = load_model("qwen3-8b");
  Training training;
  training.sequence_length = 512;
  training.micro_batch = 2;
  training.global_batch = 2;
  const double bs = 2.0 * 512;
  const auto of_a_layer = [&](int norms, bool query_key_norm) {
    model.norms_per_layer = norms;
    model.query_key_norm = query_key_norm;
    Bytes sum;
    for (const Stage& stage : stages_of(model, training))
      if (stage.layer == 0) sum += stage.saved;
    return sum.value();
  };
  const double plain = of_a_layer(2, false);
  CHECK(of_a_layer(4, false) - plain == Approx(2 * 2 * bs * 4096));
  CHECK(of_a_layer(2, true) - plain == Approx(2 * bs * (32 + 8) * 128));
  CHECK(of_a_layer(4, true) - plain == Approx(2 * 2 * bs * 4096 + 2 * bs * (32 + 8) * 128));
}

TEST_CASE("attention and MLP side by side keep one input, behind one norm one norm output") {
  // b s h: queries, keys, values 6 (fewer with grouped queries), attention 2, the projection's
  // input 2, MLP 4 h / h x (2 + 2) = 16: 26. Sequential: two inputs and two norm outputs on top, 8.
  const auto of_a_layer = [](const std::string& particulars, Recompute recompute) {
    const ModelShape model = parse_model(
        JsonValue::parse_text(R"({"hidden_size": 2048, "num_hidden_layers": 2, "vocab_size": 1000,
            "num_attention_heads": 16, "intermediate_size": 8192, )" +
                                  particulars + "}",
                              "config.json"),
        "config");
    Training training;
    training.sequence_length = 256;
    training.recompute = recompute;
    Bytes sum;
    for (const Stage& stage : stages_of(model, training))
      if (stage.layer == 1)
        sum += stage.saved - (recompute == Recompute::selective ? stage.recomputable : Bytes(0));
    return sum.value() / (256.0 * 2048);
  };
  for (const char* one_norm :
       {R"("model_type": "phi")", R"("model_type": "gptj")",
        R"("model_type": "falcon", "multi_query": false)",
        R"("model_type": "falcon", "new_decoder_architecture": true, "num_kv_heads": 16,
           "num_ln_in_parallel_attn": 1)"}) {
    INFO(one_norm);
    CHECK(of_a_layer(one_norm, Recompute::none) == Approx(26 + 2 + 2));
    // Without the norm's output and the activation's (2 x 4).
    CHECK(of_a_layer(one_norm, Recompute::selective) == Approx(26 + 2 - 8));
  }
  for (const char* two_norms :
       {R"("model_type": "gpt_neox")",
        R"("model_type": "falcon", "new_decoder_architecture": true, "num_kv_heads": 16)"}) {
    INFO(two_norms);
    CHECK(of_a_layer(two_norms, Recompute::none) == Approx(26 + 2 + 4));
    CHECK(of_a_layer(two_norms, Recompute::selective) == Approx(26 + 2 - 8));
  }
  for (const char* sequential :
       {R"("model_type": "gpt_neox", "use_parallel_residual": false)",
        R"("model_type": "falcon", "multi_query": false, "parallel_attn": false)"}) {
    INFO(sequential);
    CHECK(of_a_layer(sequential, Recompute::none) == Approx(26 + 4 + 4));
    CHECK(of_a_layer(sequential, Recompute::selective) == Approx(26 + 4 - 8));
  }
  // stablelm's MLP is gated: gate and up, silu(gate) and the product.
  const double gated = 26 + 2 * 2 * 4;
  CHECK(of_a_layer(R"("model_type": "stablelm", "use_parallel_residual": true)", Recompute::none) ==
        Approx(gated + 2 + 2));
  CHECK(of_a_layer(R"("model_type": "stablelm")", Recompute::none) == Approx(gated + 4 + 4));
}

TEST_CASE("the Adam step peaks at what its code holds for an owned parameter") {
  // With few activations the peak is P + G + OS and the temporaries. InternEvo formulas/mem.py:
  // P + G + OS x 5/3. PyTorch's AdamW: the square root of the second moments in fp32, fused none.
  const double phi = 6738415616.0;
  const ModelShape model = load_model("llama-7b");
  Training training;
  training.sequence_length = 16;
  training.global_batch = 8;
  const auto bytes = [&](const std::string& strategy, Mesh dp) {
    const Schedule s = generate(model, training, strategy, dp);
    MemoryEstimate estimate = estimate_peak_memory(s);
    CHECK(s.op(estimate.at).name == "step.adam");
    estimate.at_peak[MemoryComponent::context] = Bytes(0);
    estimate.at_peak[MemoryComponent::communication_buffers] = Bytes(0);
    Bytes sum;
    for (const auto& [component, held] : estimate.at_peak) sum += held;
    return sum.value();
  };
  CHECK(bytes("\"amsp\"", {1, 1}) == Approx(phi * (2 + 2 + 20)));
  CHECK(bytes("\"ddp\"", {1, 1}) == Approx(phi * (2 + 2 + 12 + 4)));
  CHECK(bytes(R"({"preset": "ddp", "adam": "internevo"})", {1, 1}) == Approx(phi * (2 + 2 + 20)));
  CHECK(bytes("\"fsdp\"", {8, 1}) == Approx(phi / 8 * (2 + 2 + 12 + 4)));
  // DeepSpeed, stage 2: the owned gradients in 16 bits, flattened in 16 bits, and in fp32. Stage 1
  // holds the same, when it has dropped the gradients of others.
  for (const char* stage : {"zero1", "zero2"})
    CHECK(bytes(std::string("{\"preset\": \"") + stage + R"(", "reduction": "all_reduce"})",
                {1, 1}) == Approx(phi * (2 + 12 + 2 + 2 + 4)));
  // Stage 3: those two copies of 10^9 elements at a time, beside its bucket.
  for (const char* preset : {"zero3", "mics", "zeropp"})
    CHECK(bytes(std::string("{\"preset\": \"") + preset + R"(", "secondary": "off"})", {2, 1}) ==
          Approx(phi / 2 * (2 + 2 + 12) + 6e9 + 1e9));
  CHECK(bytes(R"({"preset": "zero3", "sub_group": "1GB"})", {2, 1}) ==
        Approx(phi / 2 * (2 + 2 + 12) + 3e9 + 1e9));
}

TEST_CASE("stage 3 holds its shards of the gradients all the time, other strategies in the step") {
  const double phi = 6738415616.0;
  const ModelShape model = load_model("llama-7b");
  Training training;
  training.sequence_length = 64;
  training.global_batch = 16;
  for (const char* preset : {"\"zero3\"", "\"mics\"", "\"zeropp\""}) {
    INFO(preset);
    const Schedule s = generate(model, training, preset, {8, 1});
    CHECK(persistent(s, MemoryComponent::gradients).value() == Approx(2 * phi / 8));
    for (const Op& op : s.ops)
      for (const MemoryChange& change : op.memory)
        CHECK(change.component != MemoryComponent::gradients);
  }
  for (const char* preset : {"\"fsdp\"", "\"zero2\"", "\"amsp\""})
    CHECK(persistent(generate(model, training, preset, {8, 1}), MemoryComponent::gradients) ==
          Bytes(0));
}

TEST_CASE("ZeRO-2 peaks above ZeRO-1: DeepSpeed's contiguous gradient buffers") {
  // DeepSpeed#1302: a model of 1.8 billion parameters; nvidia-smi in MiB by bucket size (elements),
  // with and without overlap, against 19247 without contiguous buffers.
  ModelShape model = load_model("gpt2-xl");
  Training training;
  training.sequence_length = 1024;
  training.micro_batch = 4;
  training.global_batch = 8;
  const Mesh dp{2, 1};
  const auto mebi = [&](const std::string& more) {
    return peak(model, training, R"({"preset": "zero2")" + more + "}", dp) / 1048576;
  };
  const double without = mebi(R"(, "contiguous_gradients": false)");
  CHECK(mebi(R"(, "bucket": "1GB")") - without == Approx(21152 - 19247).margin(4));
  CHECK(mebi(R"(, "bucket": "1GB", "overlap_all_reduce": false)") - without ==
        Approx(20198 - 19247).margin(4));
  CHECK(mebi(R"(, "bucket": "0.2GB")") - without == Approx(19625 - 19247).margin(4));
  CHECK(mebi(R"(, "bucket": "0.02GB")") - without == Approx(19284 - 19247).margin(4));
  CHECK(peak(model, training, "\"zero2\"", dp) > peak(model, training, "\"zero1\"", dp));
}

TEST_CASE("ZeRO-3 peaks above ZeRO-2: gathered parameters stay") {
  // DeepSpeed#3734 (a model of 560 million parameters on four GPUs): max_reuse_distance of 1e9
  // elements keeps all of a small model gathered from forward to backward, beside its shards.
  const ModelShape model =
      parse_model(JsonValue::parse_text(R"({"model_type": "bloom", "n_embed": 1024, "n_layer": 24,
                                            "num_attention_heads": 16, "vocab_size": 250880})",
                                        "bloom-560m"),
                  "bloom-560m");
  Training training;
  training.sequence_length = 2048;
  training.global_batch = 4;
  const auto with = [&](const std::string& strategy) {
    return peak(model, training, "{" + strategy + R"(, "bucket": "0.1GB"})", {4, 1});
  };
  const double zero2 = with(R"("preset": "zero2")");
  CHECK(with(R"("preset": "zero3", "reuse_distance": "2GB")") > zero2);
  CHECK(with(R"("preset": "zero3")") < zero2);
}
