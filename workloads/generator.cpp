// SPDX-License-Identifier: Apache-2.0
#include "workloads/generator.hpp"

#include "workloads/memory.hpp"
#include "workloads/micro_batch_pass.hpp"
#include "workloads/optimizer_step.hpp"

namespace amsp {
namespace {

class Generator {
 public:
  Generator(const ModelShape& model, const Training& training, const Strategy& strategy,
            Mesh data_parallel)
      : job_{model,
             training,
             strategy,
             data_parallel,
             micro_batches(training, data_parallel.size()),
             modules_of(model),
             stages_of(model, training)},
        builder_(model.name + " " + strategy.name + " on " + to_text(data_parallel),
                 data_parallel) {}

  Schedule generate() {
    // The first micro-batch has nothing to accumulate onto; the last goes over the replicas.
    const std::int64_t count = job_.micro_batches;
    if (count > 1) pass("first_micro_batch", "first.", 1, {true, false});
    if (count > 2) pass("micro_batch", "next.", count - 2, {false, false});
    pass("last_micro_batch", "last.", 1, {count == 1, true});
    builder_.begin_block("optimizer", "step.", 1);
    const OptimizerStep step = add_optimizer_step(job_, builder_);
    builder_.end_block();
    if (job_.strategy.overlap_broadcast) wait_for_updates(step);
    builder_.persistent() = persistent_memory(job_, builder_.communicators());
    return builder_.finish();
  }

 private:
  void wait_for_updates(const OptimizerStep& step) {
    for (const auto& [module, op] : first_uses_)
      if (const auto updates = step.updates_of_module.find(module);
          updates != step.updates_of_module.end())
        for (const OpId update : updates->second) builder_.add_dependency(op, update);
  }

  void pass(const std::string& name, const std::string& prefix, std::int64_t repeat,
            MicroBatch micro_batch) {
    builder_.begin_block(name, prefix, repeat);
    MicroBatchPass pass(job_, builder_, micro_batch);
    pass.build();
    if (micro_batch.first) first_uses_ = pass.first_uses();
    builder_.end_block();
  }

  Job job_;
  ScheduleBuilder builder_;
  std::vector<std::pair<int, OpId>> first_uses_;
};

}  // namespace

Schedule generate_schedule(const ModelShape& model, const Training& training,
                           const Strategy& strategy, Mesh data_parallel) {
  check_strategy(strategy, data_parallel);
  return Generator(model, training, strategy, data_parallel).generate();
}

}  // namespace amsp
