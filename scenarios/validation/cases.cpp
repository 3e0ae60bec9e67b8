// SPDX-License-Identifier: Apache-2.0
#include "scenarios/validation/cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "calibrate/compute_model.hpp"
#include "workloads/generator.hpp"

namespace amsp {
namespace {

constexpr int kLayers = 4;
constexpr int kMicroBatches = 2;
constexpr Seconds kReduction{0.6};        // of all gradients, and the computation of a step
constexpr double kMostParameters = 64e6;  // 128 MB of gradients

struct NamedStrategy {
  const char* name;
  const char* json;
  bool quick;
};
// Buckets are small, as the model is. "node" and "all" are meshes.
constexpr NamedStrategy kStrategies[] = {
    {"DDP", R"({"preset": "ddp", "bucket": "BUCKET"})", true},
    {"DDP without overlap", R"({"preset": "ddp", "bucket": "BUCKET", "overlap_all_reduce": false})",
     false},
    {"ZeRO-1", R"({"preset": "zero1", "bucket": "BUCKET"})", true},
    {"ZeRO-3", R"({"preset": "zero3", "bucket": "BUCKET"})", false},
    {"FSDP", R"({"preset": "fsdp", "bucket": "BUCKET"})", false},
    {"HSDP", R"({"preset": "hsdp", "bucket": "BUCKET"})", true},
    {"MiCS", R"({"preset": "mics", "bucket": "BUCKET"})", false},
    {"AMSP, OS in a node", R"({"preset": "amsp", "bucket": "BUCKET"})", true},
    {"AMSP, OS in a node, broadcast overlapped",
     R"({"preset": "amsp", "bucket": "BUCKET", "overlap_broadcast": true})", false},
    {"AMSP, OS everywhere", R"({"preset": "amsp", "bucket": "BUCKET", "optimizer": "all"})", false},
    {"AMSP, P in a node, OS everywhere",
     R"({"preset": "amsp", "bucket": "BUCKET", "parameters": "node", "optimizer": "all"})", false},
    {"AMSP, P in a node, no overlap",
     R"({"preset": "amsp", "bucket": "BUCKET", "parameters": "node",
         "overlap_gather_scatter": false, "overlap_all_reduce": false})",
     false},
};

// A decoder with 12 h^2 parameters a layer; h such that the gradients take `time` to reduce, which
// becomes what they take.
ModelShape small_model(const TestbedShape& shape, Seconds& time) {
  const double n = shape.ranks();
  const Bandwidth rate = (shape.nodes > 1 ? shape.inter : shape.intra) * testbed_payload_share;
  const double turns = 2 * (n - 1) / n;
  const double parameters = std::min(kMostParameters, (rate * time).value() / turns / 2);  // bf16
  time = Bytes(parameters * turns * 2) / rate;
  ModelShape model;
  model.name = "small";
  model.layers = kLayers;
  model.head_dim = 16;
  // Also heads x 16, and at least 64.
  model.hidden = std::max(64L, std::lround(std::sqrt(parameters / (12 * kLayers)) / 16) * 16);
  model.heads = model.kv_heads = model.hidden / model.head_dim;
  model.intermediate = 4 * model.hidden;
  model.gated_mlp = false;
  model.vocabulary = 256;
  return model;
}

// Compute time of one step of a rank by the compute model.
Seconds compute_time(const Schedule& schedule, const ComputeModel& compute) {
  Seconds total;
  for (const Block& block : schedule.blocks)
    for (OpId op : block.ops)
      for (const Kernel& kernel : schedule.op(op).kernels)
        total += compute.estimate(kernel).time * static_cast<double>(block.repeat);
  return total;
}

// Every op's kernels become one of a stated duration.
void emulate(Schedule& schedule, const ComputeModel& compute, double scale) {
  for (Op& op : schedule.ops) {
    if (op.kernels.empty()) continue;
    Kernel fixed;
    for (const Kernel& kernel : op.kernels) fixed.duration += compute.estimate(kernel).time * scale;
    op.kernels = {fixed};
  }
}

}  // namespace

std::vector<ValidationCase> validation_cases(const TestbedShape& shape, const ClusterSpec& cluster,
                                             bool quick, double scale_of_sizes) {
  const Mesh mesh{shape.ranks_per_node, shape.nodes};
  Seconds time = kReduction * (quick ? 0.5 : 1.0);
  const ModelShape model = small_model(shape, time);
  Training training;
  training.sequence_length = 256;
  training.global_batch = static_cast<std::int64_t>(kMicroBatches) * mesh.size();
  const auto compute = load_compute_model("", cluster.node.gpu);
  std::vector<ValidationCase> cases;
  double scale = 0;  // the same device for all: that which computes the first case in `time`
  for (const NamedStrategy& one : kStrategies) {
    std::string json = one.json;
    json.replace(json.find("BUCKET"), 6, fmt::format("{:.0f}KiB", 1024 * scale_of_sizes));
    const Strategy strategy = parse_strategy(JsonValue::parse_text(json, one.name), mesh);
    ValidationCase result{one.name, generate_schedule(model, training, strategy, mesh)};
    if (scale == 0) scale = time / compute_time(result.schedule, *compute);
    if (quick && !one.quick) continue;
    result.schedule.name = one.name;
    emulate(result.schedule, *compute, scale);
    cases.push_back(std::move(result));
  }
  return cases;
}

}  // namespace amsp
