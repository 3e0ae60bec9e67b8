// SPDX-License-Identifier: Apache-2.0
#include "random_case.hpp"

#include <random>

namespace amsp::toy {
namespace {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  // 0 .. n - 1; plain remainder, so that every library rolls the same.
  int roll(int n) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(n)); }
  bool chance(int percent) { return roll(100) < percent; }
  template <class T>
  T pick(std::initializer_list<T> values) {
    return *(values.begin() + roll(static_cast<int>(values.size())));
  }

 private:
  std::mt19937_64 engine_;
};

ClusterSpec random_cluster(Dice& dice, double scale) {
  const int gpus = dice.pick({1, 2, 4});
  const int nics = gpus == 1 ? 1 : dice.pick({1, 2});
  ClusterSpec spec = cluster(dice.pick({1, 2, 3, 4}), gpus, nics, dice.pick({1.0, 2.0, 3.0}));
  if (spec.gpus() == 1) spec = cluster(2, 1, 1);
  spec.node.intra.gpu_rate *= scale;
  spec.node.pcie_rate *= scale;
  for (NicSpec& nic : spec.node.nics) nic.rate *= scale;
  if (spec.nodes > 1) {
    spec.fabric.kind = dice.pick({FabricKind::leaf_spine, FabricKind::single_switch,
                                  FabricKind::fat_tree, FabricKind::rail_optimized});
    spec.fabric.leaves_per_pod = 1;
    if (dice.chance(40)) spec.fabric.spreading = Spreading::ecmp;
    spec.fabric.ecmp_seed = static_cast<std::uint64_t>(dice.roll(1000));
  }
  return spec;
}

CollectiveKind random_kind(Dice& dice) {
  return dice.pick({CollectiveKind::all_reduce, CollectiveKind::all_gather,
                    CollectiveKind::reduce_scatter, CollectiveKind::broadcast});
}

void add_op(Builder& build, Dice& dice, const CaseOptions& options, int number) {
  const int streams = static_cast<int>(build.schedule.streams.size());
  const int known = static_cast<int>(build.schedule.ops.size());
  std::vector<OpId> after;
  for (int i = dice.roll(3); i > 0 && known > 0; --i) after.emplace_back(dice.roll(known));
  const std::string name = "op" + std::to_string(number);
  if (dice.chance(options.chain ? 30 : 45)) {
    const Seconds time = milliseconds(dice.pick({0.0, 0.1, 0.37, 1.0, 2.0}));
    const OpId op = build.compute(name, StreamId(0), time, after);
    if (options.roles && dice.chance(20))
      build.schedule.ops[op.position()].role = Role{CommId(dice.roll(3)), 0};
    return;
  }
  const StreamId stream(options.chain ? 0 : 1 + dice.roll(streams - 1));
  const Bytes bytes = Bytes(dice.pick({0.0, 1e5, 1e6, 3e6, 1e7})) * options.scale;
  const CommId communicator(options.one_group ? 2 : dice.roll(3));
  const int members = build.schedule.communicators[communicator.position()].group_size();
  build.collective(name, stream, communicator, random_kind(dice), bytes, after, dice.roll(members));
}

Schedule random_schedule(Dice& dice, int g, int n, const CaseOptions& options) {
  Builder build(g * n);
  build.stream("compute", true);
  if (!options.chain) {
    build.stream("comm", false);
    build.stream("grads", false);
  }
  build.communicator("inside", {{g, true}, {n, false}});
  build.communicator("across", {{g, false}, {n, true}});
  build.communicator("all", {{g, true}, {n, true}});
  int number = 0;
  build.block("micro", options.repeat > 0 ? options.repeat : 1 + dice.roll(3));
  for (int i = 2 + dice.roll(6); i > 0; --i) add_op(build, dice, options, number++);
  build.block("tail", 1);
  for (int i = 1 + dice.roll(4); i > 0; --i) add_op(build, dice, options, number++);
  // Dependencies on later ops mean the repetition or step before.
  for (Op& op : build.schedule.ops)
    if (dice.chance(15)) op.after.emplace_back(dice.roll(number));
  return build.schedule;
}

Perturbations random_perturbations(Dice& dice, const ClusterSpec& spec, const Network& network,
                                   const CaseOptions& options) {
  Perturbations perturbations;
  if (dice.chance(40)) perturbations.slow_gpus.push_back({GpuId(dice.roll(spec.gpus())), 0.8});
  if (dice.chance(50)) {
    const int links = static_cast<int>(network.links().size());
    perturbations.links.push_back({LinkId(dice.roll(links)), dice.pick({0.9, 0.5, 0.1})});
  }
  if (options.jitter) {
    perturbations.kernel_jitter = dice.pick({0.0, 0.02, 0.2});
    perturbations.link_jitter = dice.pick({0.0, 0.1, 0.3});
    perturbations.seed = static_cast<std::uint64_t>(dice.roll(1000));
  }
  return perturbations;
}

// Takes out up to two NICs or fabric links, if the rest still connects all GPUs.
void fail_links(Dice& dice, Network& network) {
  for (int i = dice.roll(3); i > 0; --i) {
    const LinkId link(dice.roll(static_cast<int>(network.links().size())));
    const LinkKind kind = network.links()[link.position()].kind;
    if (kind != LinkKind::nic && kind != LinkKind::fabric) continue;
    try {
      network.scale_capacity(link, 0);
    } catch (const InputError&) {  // it is the only way
    }
  }
}

// Every GPU once, in any order; packed and rail are two of them.
std::vector<GpuId> random_order(Dice& dice, const ClusterSpec& spec) {
  std::vector<GpuId> gpus;
  const int how = dice.roll(3);
  for (int i = 0; i < spec.gpus(); ++i)
    gpus.emplace_back(how == 0 ? i : i % spec.nodes * spec.node.gpus + i / spec.nodes);
  if (how == 2)
    for (int i = spec.gpus(); i > 1; --i)
      std::swap(gpus[static_cast<std::size_t>(i - 1)],
                gpus[static_cast<std::size_t>(dice.roll(i))]);
  return gpus;
}

template <class Make>
auto with_dice(std::uint64_t seed, int stage, const Make& make) {
  Dice dice(seed * 8 + static_cast<std::uint64_t>(stage));
  return make(dice);
}

}  // namespace

Case::Case(std::uint64_t seed, const CaseOptions& options)
    : spec(with_dice(seed, 0, [&](Dice& d) { return random_cluster(d, options.scale); })),
      network(toy::network(spec)),
      collectives(with_dice(seed, 1,
                            [&](Dice& d) {
                              return RingModel(
                                  microseconds(d.pick({0.0, 5.0, 30.0})),
                                  gigabytes_per_second(d.pick({4.0, 8.0, 10.0})) * options.scale,
                                  d.pick({0.0, 0.15, 0.4}));
                            })),
      schedule(with_dice(seed, 2, [&](Dice& d) {
        return random_schedule(d, spec.node.gpus, spec.nodes, options);
      })) {
  if (options.perturbed)
    perturbations = with_dice(
        seed, 3, [&](Dice& d) { return random_perturbations(d, spec, network, options); });
  if (!options.placed) return;
  Dice dice(seed * 8 + 4);
  fail_links(dice, network);
  const int g = spec.node.gpus;
  const int nodes = 1 + dice.roll(spec.nodes);
  schedule = random_schedule(dice, g, nodes, options);
  const std::vector<GpuId> order = random_order(dice, spec);
  gpu_of_rank.assign(order.begin(), order.begin() + g * nodes);
  if (!options.second_job || nodes == spec.nodes) return;
  other = random_schedule(dice, g, spec.nodes - nodes, options);
  gpu_of_other.assign(order.begin() + g * nodes, order.end());
}

}  // namespace amsp::toy
