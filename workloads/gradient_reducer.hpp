// SPDX-License-Identifier: Apache-2.0
// What happens to the gradients of one micro-batch: reduce-scatter to the parameters' shards,
// buckets over the replicas, accumulation (AMSP, IV-C and V; docs/model/40-schedule.md).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "workloads/job.hpp"

namespace amsp {

struct MicroBatch {
  bool first = true;  // of the step: nothing to accumulate onto yet
  bool last = true;   // of the step: gradients go over the replicas
};

class GradientReducer {
 public:
  GradientReducer(const Job& job, ScheduleBuilder& builder, MicroBatch micro_batch);

  // The first op of the backward pass: buffers that are there from then on.
  void begin(OpId first_backward);
  // What the weight-gradient op does with a module's gradient itself: adding it to that of earlier
  // micro-batches, or copying it into a contiguous bucket.
  [[nodiscard]] std::optional<Kernel> accumulation(int module) const;
  // The weight-gradient op of a module is issued; modules come in backward order.
  void ready(int module, OpId weight_gradient);
  // The backward pass is over: what is left is reduced or added up, and in the last micro-batch
  // the compute stream then waits for all of it.
  void finish();

 private:
  // Ops that follow each other on one stream.
  struct Chain {
    std::string name;
    int layer = -1;
    std::string stream;
    OpId end;
  };
  struct Bucket {
    Bytes bytes;  // of the shards in it
    OpId filled;  // the op that made its last gradient
  };
  void append(Chain& chain, const std::string& suffix, Op op);
  void append_kernel(Chain& chain, const std::string& suffix, Bytes hbm);
  void append_collective(Chain& chain, CollectiveKind kind, const std::string& communicator,
                         Mesh inner, Mesh outer, Bytes bytes, Dtype dtype);

  // Reduce-scatter to the parameters' shards: by module, by flat layer, or by contiguous bucket.
  void to_shards(int module, OpId weight_gradient);
  void scatter(OpId after);
  void exchange_quantized(Chain& chain, Bytes bytes);
  void hold_tied_table(int module, OpId weight_gradient);
  void hold_shards(const std::vector<int>& modules, OpId scattered);
  // Buckets over the replicas.
  void to_replicas(const std::vector<int>& modules, OpId ready);
  void add_to_bucket(Bytes bytes, OpId ready);
  void close_bucket(OpId trigger);
  void reduce_bucket(const Bucket& bucket, bool at_end);
  void reduce(Chain& chain, Bytes bytes);
  void accumulate_shards();
  void remember(OpId op, MemoryComponent component, Bytes delta, bool at_start);
  [[nodiscard]] bool reduces_replicas() const;
  [[nodiscard]] bool contiguous() const;
  [[nodiscard]] bool deferred() const;

  const Job& job_;
  ScheduleBuilder& builder_;
  MicroBatch micro_batch_;
  std::vector<int> unscattered_;
  Bytes unscattered_bytes_;
  std::vector<int> root_;  // of the root unit, which waits for the embedding
  Bucket open_;
  int buckets_ = 0;
  std::vector<Bucket> deferred_buckets_;
  OpId last_scatter_, last_bucket_;
  Bytes held_;  // of buckets, until the end of the pass
};

}  // namespace amsp
