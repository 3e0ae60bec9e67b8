// SPDX-License-Identifier: Apache-2.0
// The order that a schedule imposes: without overlap, one op after the other; with it, what the
// paper's executor lets run side by side.
#include <rapidcheck/catch.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "random_jobs.hpp"

using namespace amsp;
using namespace amsp::testing;

namespace {

OpId find(const Schedule& schedule, const std::string& name) {
  for (std::size_t i = 0; i < schedule.ops.size(); ++i)
    if (schedule.ops[i].name == name) return OpId(i);
  FAIL("no op " << name);
  return {};
}

// Does `op` come after `other` by dependencies and streams, both once in program order?
bool follows(const Schedule& schedule, OpId op, OpId other) {
  std::vector<bool> reached(schedule.ops.size(), false);
  reached[op.position()] = true;
  for (std::size_t i = op.position(); i > other.position(); --i) {
    if (!reached[i]) continue;
    const Op& now = schedule.ops[i];
    for (const OpId after : now.after)
      if (after.position() < i) reached[after.position()] = true;
    for (std::size_t before = i; before-- > 0;)
      if (schedule.ops[before].stream == now.stream) {
        reached[before] = true;
        break;
      }
  }
  return reached[other.position()];
}

Schedule small(const std::string& strategy, Mesh dp, std::int64_t micro_batches) {
  ModelShape model = load_model("llama-7b");
  model.layers = 3;
  Training training;
  training.global_batch = micro_batches * dp.size();
  return generate_schedule(model, training,
                           parse_strategy(JsonValue::parse_text(strategy, "strategy"), dp), dp);
}

}  // namespace

TEST_CASE("without overlap every op waits for the one before it") {
  rc::prop("a total order", [] {
    const ModelShape model = random_model();
    const Mesh dp = random_machine();
    const Training training = random_training(dp);
    const auto& presets = strategy_presets();
    Strategy s = (*rc::gen::elementOf(presets))->make(dp);
    s.overlap_gather_scatter = s.overlap_all_reduce = s.overlap_broadcast = false;
    const Schedule schedule = generate_schedule(model, training, s, dp);
    for (std::size_t i = 1; i < schedule.ops.size(); ++i) {
      const Op& op = schedule.ops[i];
      const bool collective_of_update = op.phase == Phase::update;
      if (collective_of_update) continue;  // in order on their stream, after the Adam step
      RC_LOG() << s.name << ": " << op.name << " after " << schedule.ops[i - 1].name << "\n";
      RC_ASSERT(follows(schedule, OpId(i), OpId(i - 1)));
    }
  });
}

TEST_CASE("AMSP prefetches the next layer forward and the next module backward") {
  const Schedule s = small(R"({"preset": "amsp", "parameters": "4x1"})", {8, 1}, 1);
  const auto after = [&](const char* op) {
    std::vector<std::string> names;
    for (const OpId id : s.op(find(s, op)).after) names.push_back(s.op(id).name);
    return names;
  };
  // Launched before layer 0 computes, that is behind the embedding.
  CHECK(after("last.l1.qkv.forward.gather") == std::vector<std::string>{"last.embedding.forward"});
  CHECK(after("last.l1.down.forward.gather") == std::vector<std::string>{"last.embedding.forward"});
  CHECK(after("last.l2.up.forward.gather") == std::vector<std::string>{"last.l0.down.forward"});
  CHECK(after("last.l1.up.forward") == std::vector<std::string>{"last.l1.up.forward.gather"});
  // Backward: "up" is gathered while "down" computes its weight gradient.
  CHECK(after("last.l1.up.backward.gather") ==
        std::vector<std::string>{"last.l2.qkv.input_gradient"});
  // The reduce-scatter runs beside the input gradient and nothing waits for it but the bucket.
  CHECK(after("last.l1.up.gradient.reduce_scatter") ==
        std::vector<std::string>{"last.l1.up.weight_gradient"});
  CHECK_FALSE(follows(s, find(s, "last.l1.out.weight_gradient"),
                      find(s, "last.l1.up.gradient.reduce_scatter")));
  CHECK(follows(s, find(s, "step.norm"), find(s, "last.embedding.gradient.reduce_scatter")));
}

TEST_CASE("the last bucket is reduced when the backward pass is over") {
  const Schedule s = small("\"amsp\"", {8, 1}, 2);
  std::vector<std::string> reduced;
  for (const Op& op : s.ops)
    if (op.collective && op.collective->kind == CollectiveKind::all_reduce &&
        op.component == StateComponent::gradients && op.phase == Phase::backward)
      reduced.push_back(op.name);
  // 3 layers of 0.38 GiB and two tables of 0.24 GiB in buckets of 1 GiB: full at the second.
  CHECK(reduced == std::vector<std::string>{"last.bucket0.all_reduce", "last.bucket1.all_reduce"});
  CHECK(follows(s, find(s, "last.bucket1.flatten"), find(s, "last.embedding.weight_gradient")));
  CHECK_FALSE(follows(s, find(s, "last.bucket0.flatten"), find(s, "last.l0.qkv.weight_gradient")));
  CHECK(follows(s, find(s, "step.adam"), find(s, "last.bucket1.all_reduce")));
}

TEST_CASE("MiCS blocks at the boundary; AMSP does not") {
  // The same shards in a node and small buckets: the first is full long before the pass is over.
  const auto waits = [](const std::string& preset) {
    const Schedule s =
        small(R"({"preset": ")" + preset + R"(", "parameters": "4x1", "optimizer": "4x1",
                 "bucket": "0.1GB"})",
              {4, 2}, 2);
    return follows(s, find(s, "last.bucket0.all_reduce"),
                   find(s, "last.embedding.weight_gradient"));
  };
  CHECK(waits("mics"));
  CHECK_FALSE(waits("amsp"));
}

TEST_CASE("FSDP holds two gathers in flight on one communication stream") {
  const Schedule s = small("\"fsdp\"", {4, 2}, 1);
  CHECK(s.streams.size() == 3);  // compute, communication, update (gradient norm)
  const auto gather = find(s, "last.l2.forward.gather");
  CHECK(s.op(gather).after == std::vector<OpId>{find(s, "last.l0.down.forward")});
  CHECK(s.op(gather).stream == s.op(find(s, "last.l2.gradient.reduce_scatter")).stream);
}

TEST_CASE("an overlapped broadcast is waited for by the next step's forward pass") {
  const Schedule s = small(R"({"preset": "amsp", "overlap_broadcast": true})", {8, 1}, 2);
  const Op& embedding = s.op(find(s, "first.embedding.forward"));
  REQUIRE(embedding.after.size() == 1);
  CHECK(s.op(embedding.after.front()).name == "step.broadcast0");
  // Every module waits for its owners, and the last owner holds the head.
  const Op& head = s.op(find(s, "first.head.forward"));
  REQUIRE_FALSE(head.after.empty());
  CHECK(s.op(head.after.back()).phase == Phase::update);
  CHECK(s.ops.back().name != "step.end");
  const Schedule waited = small("\"amsp\"", {8, 1}, 2);
  CHECK(waited.ops.back().name == "step.end");
  CHECK(waited.op(find(waited, "first.embedding.forward")).after.empty());
}

TEST_CASE("MiCS sums the shards of as many buckets as it scatters, each at the boundary") {
  // 3 layers of 0.38 GiB and two tables of 0.24 GiB in buckets of 1e9 bytes.
  const Schedule s = small(R"({"preset": "mics"})", {8, 4}, 2);
  std::vector<Bytes> scattered, summed;
  for (const Op& op : s.ops) {
    if (!op.collective || !op.name.starts_with("last.")) continue;
    if (op.collective->kind == CollectiveKind::reduce_scatter)
      scattered.push_back(op.collective->bytes);
    if (op.collective->kind == CollectiveKind::all_reduce) summed.push_back(op.collective->bytes);
  }
  CHECK(scattered.size() == 2);
  REQUIRE(summed.size() == scattered.size());
  for (std::size_t i = 0; i < summed.size(); ++i)
    CHECK(summed[i] / scattered[i] == Approx(1.0 / 8).epsilon(1e-6));
  CHECK(follows(s, find(s, "last.bucket0.all_reduce"), find(s, "last.embedding.weight_gradient")));
}
