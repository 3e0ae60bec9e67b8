// SPDX-License-Identifier: Apache-2.0
// What PyTorch keeps beyond a model's own tensors: Adam's root, a tied table's two gradients,
// copies of the logits, FSDP's root unit. Counted by hand.
#include <catch2/catch.hpp>
#include <map>

#include "workloads/generator.hpp"
#include "workloads/memory.hpp"

using namespace amsp;

namespace {

Schedule generate(const ModelShape& model, const Training& training, const std::string& strategy,
                  Mesh dp) {
  return generate_schedule(model, training,
                           parse_strategy(JsonValue::parse_text(strategy, "strategy"), dp), dp);
}

Bytes persistent(const Schedule& schedule, MemoryComponent component) {
  for (const PersistentMemory& memory : schedule.persistent)
    if (memory.component == component) return memory.bytes;
  return {};
}

}  // namespace

TEST_CASE("FSDP's step holds 16 bytes a parameter when its AdamW is fused, 20 otherwise") {
  // LLaMA-33B on one node: 32.5 billion parameters over 8 GPUs.
  Training training;
  training.sequence_length = 2048;
  training.global_batch = 8;
  training.recompute = Recompute::full;
  const ModelShape model = load_model("llama-33b");
  const auto step = [&](const std::string& strategy) {
    const Schedule s = generate(model, training, strategy, {8, 1});
    Bytes held = persistent(s, MemoryComponent::parameters) +
                 persistent(s, MemoryComponent::optimizer_states);
    for (const Op& op : s.ops)
      for (const MemoryChange& change : op.memory)
        if (op.name == "step.adam" ? change.at_start && change.delta > Bytes(0)
                                   : change.component == MemoryComponent::gradients)
          held += change.delta;
    return held.value() / parameter_count(model) * 8;
  };
  CHECK(step("\"fsdp\"") == Approx(20));
  CHECK(step(R"({"preset": "fsdp", "adam": "fused"})") == Approx(16));
}

TEST_CASE("a tied table has two gradients: the head's waits for the embedding's") {
  // One layer, h = 1024, f = 2048, V = 262144: the table is 512 MiB in bf16.
  const ModelShape model = parse_model(
      JsonValue::parse_text(R"({"layers": 1, "hidden": 1024, "heads": 8, "intermediate": 2048,
                                "vocabulary": 262144, "tied_embeddings": true})",
                            "tied"),
      "tied");
  const double table = 512.0 * 1048576;
  // The layer: four of h x h, three of h x f, two norms; the head's norm.
  const double layer = 2 * (4 * 1024.0 * 1024 + 3 * 1024.0 * 2048 + 2 * 1024);
  const double head = 2 * 1024;
  Training training;
  training.sequence_length = 16;
  // Gradients on a GPU while an op runs, by the op's name without its block.
  const auto held = [&](const std::string& strategy, Mesh dp, std::int64_t passes) {
    training.global_batch = passes * dp.size();
    std::map<std::string, double> during;
    double now = 0;
    const Schedule s = generate(model, training, strategy, dp);
    for (const Block& block : s.blocks)
      for (const OpId id : block.ops)
        for (const bool at_start : {true, false}) {
          for (const MemoryChange& change : s.op(id).memory)
            if (change.at_start == at_start && (change.component == MemoryComponent::gradients ||
                                                change.component == MemoryComponent::buckets))
              now += change.delta.value();
          if (at_start) during[s.op(id).name] = now;
        }
    return during;
  };
  auto ddp = held("\"ddp\"", {1, 1}, 2);
  CHECK(ddp["first.head.weight_gradient"] == Approx(table + head));
  CHECK(ddp["first.l0.qkv.input_gradient"] == Approx(table + head + layer));
  CHECK(ddp["first.embedding.weight_gradient"] == Approx(2 * table + head + layer));
  CHECK(ddp["last.head.weight_gradient"] == Approx((table + head + layer) + table + head));
  CHECK(ddp["last.embedding.weight_gradient"] == Approx((table + head + layer) + 2 * table));
  CHECK(ddp["step.adam"] == Approx(table + head + layer));
  // Sharded over two: shards of what is scattered, the table's two gradients whole.
  auto fsdp = held("\"fsdp\"", {2, 1}, 1);
  CHECK(fsdp["last.l0.qkv.input_gradient"] >= table + head / 2);
  CHECK(fsdp["last.embedding.weight_gradient"] >= 2 * table);
  CHECK(fsdp["last.embedding.weight_gradient"] <= 2 * table + head + layer);
  for (const StrategyPreset* preset : strategy_presets()) {
    INFO(preset->name());
    auto any = held('"' + std::string(preset->name()) + '"', {2, 2}, 2);
    for (const char* pass : {"first.", "last."}) {
      CHECK(any[std::string(pass) + "head.weight_gradient"] >= table + head);
      CHECK(any[std::string(pass) + "l0.qkv.weight_gradient"] >= table);
      CHECK(any[std::string(pass) + "embedding.weight_gradient"] >= 2 * table);
    }
    CHECK(any["step.norm"] <= table + head + layer + 1);
  }
}

TEST_CASE("plain cross entropy keeps the log-softmax beside what it works on") {
  // In bytes of b s V. Fused: 16-bit logits 2, fp32 copy 4; backward in place, then 16 bits. Plain:
  // logits 2, fp32 copy 4, log-softmax 4; backward log-softmax 4 and two fp32 gradients of 4.
  const ModelShape model = load_model("llama-3-8b");
  Training training;
  training.sequence_length = 512;
  training.global_batch = 1;
  const double bsv = 512.0 * 128256;
  const auto logits = [&](Loss loss, const std::string& wanted) {
    training.loss = loss;
    double now = 0, during = 0;
    for (const Op& op : generate(model, training, "\"ddp\"", {1, 1}).ops)
      for (const bool at_start : {true, false}) {
        for (const MemoryChange& change : op.memory)
          if (change.at_start == at_start && change.component == MemoryComponent::logits)
            now += change.delta.value();
        if (at_start && op.name == wanted) during = now;
      }
    CHECK(now == Approx(0).margin(1));
    return during / bsv;
  };
  CHECK(logits(Loss::fused, "last.loss.forward") == Approx(6));
  CHECK(logits(Loss::fused, "last.loss.backward") == Approx(6));
  CHECK(logits(Loss::plain, "last.loss.forward") == Approx(10));
  CHECK(logits(Loss::plain, "last.loss.backward") == Approx(12));
  CHECK(logits(Loss::plain, "last.head.weight_gradient") == Approx(2));
}

TEST_CASE("FSDP's root stays gathered, and its gradient whole, to the end of the backward pass") {
  // LLaMA-3-8B: two tables of 128256 x 4096 and the last norm.
  const double root = 2 * (2 * 128256.0 * 4096 + 4096);
  const ModelShape model = load_model("llama-3-8b");
  Training training;
  training.sequence_length = 64;
  training.global_batch = 8;
  const auto at_end = [&](const std::string& strategy, MemoryComponent component) {
    double now = 0;
    for (const Op& op : generate(model, training, strategy, {8, 1}).ops)
      for (const bool at_start : {true, false}) {
        for (const MemoryChange& change : op.memory)
          if (change.at_start == at_start && change.component == component)
            now += change.delta.value();
        if (at_start && op.name == "last.embedding.weight_gradient") return now;
      }
    return -1.0;
  };
  const std::string with = R"({"preset": "fsdp", "root_unit": true})";
  CHECK(at_end(with, MemoryComponent::gathered_parameters) == Approx(root));
  CHECK(at_end(with, MemoryComponent::buckets) == Approx(root));
  CHECK(at_end("\"fsdp\"", MemoryComponent::buckets) == Approx(2 * 128256.0 * 4096));
}
