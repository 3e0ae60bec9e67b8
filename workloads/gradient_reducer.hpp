// SPDX-License-Identifier: Apache-2.0
// What happens to the gradients of one micro-batch: reduce-scatter to the parameters' shards,
// buckets over the replicas, accumulation (paper.md 3.2, 5; docs/model/40-schedule.md).
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

  // The kernel that adds a module's gradient to that of earlier micro-batches, where the
  // weight-gradient op does it itself.
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

  OpId scatter(const std::vector<int>& modules, OpId after);
  void exchange_quantized(Chain& chain, Bytes bytes);
  void add_to_bucket(Bytes bytes, OpId ready);
  void close_bucket(OpId trigger);
  void reduce_bucket(const Bucket& bucket, bool at_end);
  void reduce(Chain& chain, Bytes bytes);
  [[nodiscard]] bool reduces_replicas() const;
  [[nodiscard]] bool deferred() const;

  const Job& job_;
  ScheduleBuilder& builder_;
  MicroBatch micro_batch_;
  std::vector<int> flat_;  // modules of the layer under way, where layers are flat
  Bucket open_;
  int buckets_ = 0;
  std::vector<Bucket> deferred_buckets_;
  OpId last_scatter_, last_bucket_;
};

}  // namespace amsp
