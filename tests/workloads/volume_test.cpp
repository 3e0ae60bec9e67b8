// SPDX-License-Identifier: Apache-2.0
// What each strategy moves in a step against the closed forms of the AMSP paper (section IV-C) and
// of the systems it compares with, for random shapes, meshes and batches.
#include <rapidcheck/catch.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "random_jobs.hpp"

using namespace amsp;
using namespace amsp::testing;
using Kind = CollectiveKind;

namespace {

// 2 Phi by hand, not by the module list under test.
double two_phi(const ModelShape& m) {
  const double h = static_cast<double>(m.hidden);
  const double queries = static_cast<double>(m.heads * m.head_dim);
  const double keys = static_cast<double>(m.kv_heads * m.head_dim);
  const double f = static_cast<double>(m.intermediate);
  const double matrices = m.gated_mlp ? 3 : 2;
  const double biases = m.mlp_bias ? (matrices - 1) * f + h : 0;
  const double layer =
      m.norms_per_layer * h + 2 * h * queries + 2 * h * keys + matrices * h * f + biases;
  const double tables = (m.tied_embeddings ? 1 : 2) * static_cast<double>(m.vocabulary) * h;
  return 2 * (static_cast<double>(m.layers) * layer + tables + h);
}

struct RandomJob {
  ModelShape model = random_model();
  Mesh dp = random_machine();
  Training training = random_training(dp);
  double phi2 = two_phi(model);
  double m = static_cast<double>(micro_batches(training, dp.size()));

  Schedule generate(const Strategy& strategy) const {
    return generate_schedule(model, training, strategy, dp);
  }
  Schedule generate(const std::string& preset) const {
    return generate(find_strategy_preset(preset).make(dp));
  }
};

void check(const Schedule& schedule, const Volumes& expected) {
  Volumes left = expected;
  for (const auto& [key, bytes] : volumes(schedule)) {
    RC_LOG() << name_of(key.first) << " over " << key.second << ": " << bytes << " of " << left[key]
             << "\n";
    RC_ASSERT(std::abs(bytes - left[key]) <= 1e-9 * std::abs(bytes));
    left.erase(key);
  }
  for (const auto& [key, bytes] : left) {
    RC_LOG() << "missing: " << name_of(key.first) << " over " << key.second << "\n";
    RC_ASSERT(!(bytes > 0));
  }
}

double only_if(bool condition, double bytes) { return condition ? bytes : 0; }

}  // namespace

TEST_CASE("volumes of the presets") {
  rc::prop("ddp: one all-reduce of 2 Phi a step", [] {
    const RandomJob job;
    check(job.generate("ddp"),
          {{{Kind::all_reduce, "replicas"}, only_if(job.dp.size() > 1, job.phi2)}});
  });
  rc::prop("zero1: all-reduce of 2 Phi, all-gather of 2 Phi", [] {
    const RandomJob job;
    const double bytes = only_if(job.dp.size() > 1, job.phi2);
    check(job.generate("zero1"),
          {{{Kind::all_reduce, "replicas"}, bytes}, {{Kind::all_gather, "update"}, bytes}});
  });
  rc::prop("zero2: reduce-scatter in every micro-batch, all-gather once", [] {
    const RandomJob job;
    const double bytes = only_if(job.dp.size() > 1, job.phi2);
    check(job.generate("zero2"), {{{Kind::reduce_scatter, "gradients"}, job.m * bytes},
                                  {{Kind::all_gather, "update"}, bytes}});
  });
  rc::prop("zero3 and fsdp: two all-gathers and a reduce-scatter in every micro-batch", [] {
    const RandomJob job;
    const double bytes = only_if(job.dp.size() > 1, job.m * job.phi2);
    for (const char* preset : {"zero3", "fsdp"})
      check(job.generate(preset), {{{Kind::all_gather, "parameters"}, 2 * bytes},
                                   {{Kind::reduce_scatter, "parameters"}, bytes}});
  });
  rc::prop("hsdp and mics: zero3 inside a node, all-reduce of the shard once", [] {
    const RandomJob job;
    const double bytes = only_if(job.dp.inside > 1, job.m * job.phi2);
    for (const char* preset : {"hsdp", "mics"})
      check(job.generate(preset), {{{Kind::all_gather, "parameters"}, 2 * bytes},
                                   {{Kind::reduce_scatter, "parameters"}, bytes},
                                   {{Kind::all_reduce, "replicas"},
                                    only_if(job.dp.across > 1, job.phi2 / job.dp.inside)}});
  });
  rc::prop("FSDP's root is gathered once: embedding, last norm and head", [] {
    const RandomJob job;
    Strategy strategy = find_strategy_preset("fsdp").make(job.dp);
    strategy.root_unit = true;
    const double tables = job.model.tied_embeddings ? 1 : 2;
    const double h = static_cast<double>(job.model.hidden);
    const double root = 2 * (tables * static_cast<double>(job.model.vocabulary) * h + h);
    const double sharded = only_if(job.dp.size() > 1, job.m);
    check(job.generate(strategy),
          {{{Kind::all_gather, "parameters"}, sharded * (2 * job.phi2 - root)},
           {{Kind::reduce_scatter, "parameters"}, sharded * job.phi2}});
  });
  rc::prop("zeropp: backward gathers inside a node; qwZ halves, qgZ quarters", [] {
    const RandomJob job;
    const bool weights = *rc::gen::arbitrary<bool>();
    const bool gradients = *rc::gen::arbitrary<bool>();
    Strategy strategy = find_strategy_preset("zeropp").make(job.dp);
    strategy.quantized_weights = weights;
    strategy.quantized_gradients = gradients;
    const double bytes = job.m * job.phi2;
    const bool many = job.dp.size() > 1;
    const bool inside = job.dp.inside > 1;
    const bool across = job.dp.across > 1;
    const double gathered = weights ? bytes / 2 : bytes;
    // With one node the secondary shard is the primary one; with one GPU a node there is none.
    Volumes expected{{{Kind::all_gather, "parameters"},
                      only_if(many, gathered) + only_if(inside != across, gathered)},
                     {{Kind::all_gather, "secondary"}, only_if(inside && across, gathered)}};
    if (gradients) {
      expected[{Kind::all_to_all, "_inside"}] = only_if(inside, bytes / 4);
      expected[{Kind::all_to_all, "_across"}] = only_if(across, bytes / 4 / job.dp.inside);
    } else {
      expected[{Kind::reduce_scatter, "parameters"}] = only_if(many, bytes);
    }
    check(job.generate(strategy), expected);
  });
  rc::prop("mics over several nodes gathers between them, then inside", [] {
    RandomJob job;
    job.dp = {*rc::gen::inRange(2, 5), *rc::gen::inRange(2, 5)};
    job.training = random_training(job.dp);
    job.m = static_cast<double>(micro_batches(job.training, job.dp.size()));
    Strategy strategy = find_strategy_preset("mics").make(job.dp);
    strategy.parameters = strategy.gradients = strategy.optimizer = random_mesh(job.dp, job.dp);
    strategy.hierarchical_gather = true;
    const double gathered = 2 * job.m * job.phi2;
    check(job.generate(strategy),
          {{{Kind::all_gather, "parameters_across"}, gathered / job.dp.inside},
           {{Kind::all_gather, "parameters_inside"}, gathered},
           {{Kind::reduce_scatter, "parameters"}, job.m * job.phi2}});
  });
}

TEST_CASE("volumes of AMSP for any meshes and switches") {
  rc::prop("the terms T_p, T_g, T_os0 and T_os1", [] {
    const RandomJob job;
    Strategy s = find_strategy_preset("amsp").make(job.dp);
    s.parameters = random_mesh(job.dp, {1, 1});
    s.optimizer = random_mesh(job.dp, s.parameters);
    s.gradients = *rc::gen::arbitrary<bool>() ? s.parameters : s.optimizer;
    s.inter_tensor_ownership = *rc::gen::arbitrary<bool>();
    s.overlap_gather_scatter = *rc::gen::arbitrary<bool>();
    s.overlap_all_reduce = *rc::gen::arbitrary<bool>();
    s.overlap_broadcast = *rc::gen::arbitrary<bool>();
    s.gather_per_layer = *rc::gen::arbitrary<bool>();
    s.gathers_in_flight = *rc::gen::inRange(1, 5);
    s.bucket = Bytes(*rc::gen::inRange(1000, 20000000));
    const double p = s.parameters.size();
    const double g = s.gradients.size();
    const double os = s.optimizer.size();
    const double dp = job.dp.size();
    const Schedule schedule = job.generate(s);
    const double per_micro_batch = only_if(p > 1, job.m * job.phi2);
    check(schedule, {{{Kind::all_gather, "parameters"}, 2 * per_micro_batch},
                     {{Kind::reduce_scatter, "parameters"}, per_micro_batch},
                     {{Kind::all_reduce, "gradients"}, only_if(g > p, (job.m - 1) * job.phi2 / p)},
                     {{Kind::all_reduce, "replicas"}, only_if(dp > p, job.phi2 / p)},
                     // s_os/s_p broadcasts of 2 Phi / s_os on average.
                     {{Kind::broadcast, "update"}, only_if(os > p, job.phi2 / p)}});
    RC_ASSERT(group_size(schedule, "parameters") == static_cast<int>(p));
    if (dp > p) RC_ASSERT(group_size(schedule, "replicas") == static_cast<int>(dp / p));
    if (os > p) RC_ASSERT(group_size(schedule, "update") == static_cast<int>(os / p));
  });
}

TEST_CASE("buckets hold no more than their size, except for one large tensor") {
  rc::prop("bucket sizes", [] {
    const RandomJob job;
    Strategy s = find_strategy_preset("amsp").make(job.dp);
    s.bucket = Bytes(*rc::gen::inRange(1000, 20000000));
    const Schedule schedule = job.generate(s);
    double largest = 0;
    const double h = static_cast<double>(job.model.hidden);
    for (const double elements : {static_cast<double>(job.model.vocabulary) * h,
                                  static_cast<double>(job.model.intermediate) * h,
                                  static_cast<double>(job.model.heads * job.model.head_dim) * h})
      largest = std::max(largest, 2 * elements);
    for (const Op& op : schedule.ops)
      if (op.collective && op.collective->kind == Kind::all_reduce)
        RC_ASSERT(op.collective->bytes.value() <= std::max(s.bucket.value(), largest));
  });
}
