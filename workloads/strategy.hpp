// SPDX-License-Identifier: Apache-2.0
// A sharding strategy: the meshes of P, G and OS, and the switches that shape its schedule
// (docs/formats/strategy.md). Presets register themselves, one file each (workloads/strategies/).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/json_value.hpp"
#include "base/quantity.hpp"

namespace amsp {

// s = inside x across: GPUs inside a node x nodes.
struct Mesh {
  int inside = 1;
  int across = 1;
  [[nodiscard]] int size() const { return inside * across; }
  bool operator==(const Mesh&) const = default;
};

enum class ParameterUpdate { none, broadcast, all_gather };   // how updated parameters spread
enum class GradientReduction { all_reduce, reduce_scatter };  // over the data-parallel replicas
enum class BoundaryReduction { bucketed, synchronous };       // MiCS: synchronous at the boundary
// Whose code ends the step, with which temporaries and kernels: InternEvo, DeepSpeed (FusedAdam),
// PyTorch's AdamW one operation over all tensors at a time (its default), or fused.
enum class Adam { internevo, deepspeed, foreach, fused };

struct Strategy {
  std::string name;  // preset name or "custom"
  Mesh parameters, gradients, optimizer;
  ParameterUpdate update = ParameterUpdate::broadcast;
  GradientReduction reduction = GradientReduction::all_reduce;
  BoundaryReduction boundary = BoundaryReduction::bucketed;
  // Gradients go over the replicas in every micro-batch, not only in the last (no no_sync()).
  // Where G is sharded further than P they do so in any case, inside G's mesh.
  bool reduce_every_micro_batch = false;
  bool overlap_gather_scatter = true;        // AG/RS beside computation
  bool overlap_all_reduce = true;            // gradient buckets beside backward
  bool overlap_broadcast = false;            // parameter update beside the next step's forward
  bool single_communication_stream = false;  // FSDP: AG and RS share one stream
  bool flat_layers = false;  // FSDP: a layer's parameters are one buffer, gathered at once
  // FSDP's root: embedding, last norm and head are one such buffer, which stays gathered from the
  // forward to the end of the backward pass, and so does its gradient.
  bool root_unit = false;
  int gathers_in_flight = 2;  // FSDP's limit; prefetch depth in gather units
  // DeepSpeed's max_reuse_distance: a gathered module stays from forward to backward when fewer
  // parameters than this are used in between. 0: never (the paper's model).
  Bytes reuse_distance;
  bool gather_per_tensor = false;  // DeepSpeed: one gather for each parameter of a module
  bool gather_per_layer = true;    // forward prefetch unit: a layer (AMSP) or a module
  Bytes bucket = gibibytes(1);     // gradient bucket (InternEvo: 512 Mi elements of bf16)
  // DeepSpeed: gradients are copied into buffers of a bucket that are there from the beginning of
  // the backward pass (two where reduction overlaps).
  bool contiguous_gradients = false;
  bool inter_tensor_ownership = false;  // whole tensors owned by ranks, greedy balance
  bool hierarchical_gather = false;     // MiCS option
  Mesh secondary{0, 0};                 // ZeRO++ hpZ: mesh of the backward shard; 0 = off
  bool quantized_weights = false;       // ZeRO++ qwZ (int8 gathers)
  bool quantized_gradients = false;     // ZeRO++ qgZ (int4 hierarchical all-to-all)
  Adam adam = Adam::internevo;
  // DeepSpeed stage 3's sub_group_size: the optimizer runs on this much of the shard at a time. 0:
  // on all of it.
  Bytes sub_group;
  bool operator==(const Strategy&) const = default;
};

// A preset with its meshes set for this job.
class StrategyPreset {
 public:
  virtual ~StrategyPreset() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual std::string_view description() const = 0;
  // The data-parallel mesh of the job: GPUs used in each node x nodes.
  [[nodiscard]] virtual Strategy make(Mesh data_parallel) const = 0;
};
const std::vector<const StrategyPreset*>& strategy_presets();
// Throws InputError with the nearest name.
const StrategyPreset& find_strategy_preset(std::string_view name, const Place& place = {});

// "zero3", {"preset": "amsp", "parameters": "4x1", "optimizer": "8x1", "bucket": "512MiB"}, …
Strategy parse_strategy(const JsonValue& json, Mesh data_parallel);
std::string to_json(const Strategy& strategy);
// "8x4"; also, for this job, "all" (every GPU), "node" (the GPUs of one node), "1" = "1x1".
Mesh parse_mesh(std::string_view text, Mesh data_parallel, const Place& place);
std::string to_text(Mesh mesh);

// Throws InputError naming the broken rule (paper section V-B: order, divisibility, fill a node
// before crossing, s_g in {s_p, s_os}).
void check_strategy(const Strategy& strategy, Mesh data_parallel);

}  // namespace amsp
