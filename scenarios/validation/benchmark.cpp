// SPDX-License-Identifier: Apache-2.0
#include "scenarios/validation/benchmark.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/median.hpp"
#include "base/units_text.hpp"

namespace amsp {
namespace {

constexpr double kKiB = 1024;
const std::vector<CollectiveKind> kKinds{CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
                                         CollectiveKind::all_reduce, CollectiveKind::broadcast,
                                         CollectiveKind::all_to_all};

class Builder {
 public:
  Builder(std::string name, const TestbedShape& shape) : shape_(shape) {
    schedule().name = std::move(name);
    schedule().world = shape.ranks();
    schedule().streams = {{"barrier", true}, {"first", false}, {"second", false}};
    schedule().blocks.push_back({"sweep", 1, {}});
    barrier_ = axes("barrier", {{shape.ranks(), true}});
  }

  CommId axes(std::string name, std::vector<Communicator::Axis> axes) {
    schedule().communicators.push_back({std::move(name), std::move(axes), {}});
    return CommId(schedule().communicators.size() - 1);
  }
  // The first `ranks` ranks of the first `nodes` nodes.
  CommId single(std::string name, int nodes, int ranks) {
    std::vector<Rank> group;
    for (int node = 0; node < nodes; ++node)
      for (int rank = 0; rank < ranks; ++rank)
        group.emplace_back(node * shape_.ranks_per_node + rank);
    schedule().communicators.push_back({std::move(name), {}, {std::move(group)}});
    return CommId(schedule().communicators.size() - 1);
  }

  void barrier() {
    Op op;
    op.name = fmt::format("barrier {}", barriers_++);
    op.stream = StreamId(0);
    op.after = pending_;
    op.collective = {CollectiveKind::all_reduce, barrier_, Bytes(4.0 * schedule().world),
                     Dtype::fp32, 0};
    last_barrier_ = add(std::move(op));
    pending_.clear();
  }
  OpId collective(CollectiveKind kind, CommId comm, Bytes bytes, int stream = 1) {
    Op op;
    op.name = fmt::format("{} {} {} ({})", name_of(kind), to_text(bytes),
                          schedule().communicators[comm.position()].name, schedule().ops.size());
    op.stream = StreamId(stream);
    op.after = {last_barrier_};
    op.collective = {kind, comm, bytes, Dtype::bf16, 0};
    pending_.push_back(add(std::move(op)));
    return pending_.back();
  }
  void record(OpId op, std::string group, GroupShape shape, bool alone) {
    result_.cases.push_back({op, std::move(group), shape, alone});
  }
  Benchmark finish() {
    barrier();
    return std::move(result_);
  }
  Schedule& schedule() { return result_.schedule; }

 private:
  OpId add(Op op) {
    schedule().ops.push_back(std::move(op));
    schedule().blocks.back().ops.emplace_back(schedule().ops.size() - 1);
    return schedule().blocks.back().ops.back();
  }
  TestbedShape shape_;
  Benchmark result_;
  CommId barrier_;
  OpId last_barrier_;
  std::vector<OpId> pending_;
  int barriers_ = 0;
};

struct SingleGroup {
  std::string name;
  int nodes, ranks;
};

std::vector<SingleGroup> single_groups(const TestbedShape& shape, bool quick) {
  const int nodes = shape.nodes, ranks = shape.ranks_per_node;
  std::vector<SingleGroup> groups;
  auto add = [&](std::string name, int n, int r) {
    const bool known = std::any_of(groups.begin(), groups.end(), [&](const SingleGroup& g) {
      return g.nodes == n && g.ranks == r;
    });
    if (n * r >= 2 && !known) groups.push_back({std::move(name), n, r});
  };
  add("whole job", nodes, ranks);
  add("one node", 1, ranks);
  add("one rank of each node", nodes, 1);
  if (quick) return groups;
  add("two ranks of a node", 1, std::min(2, ranks));
  add("two ranks of each node", nodes, std::min(2, ranks));
  add("one rank of two nodes", std::min(2, nodes), 1);
  add("two nodes", std::min(2, nodes), ranks);
  return groups;
}

void add_sweep(Builder& builder, const TestbedShape& shape, bool quick,
               const std::vector<double>& sizes) {
  for (const SingleGroup& group : single_groups(shape, quick)) {
    const CommId comm = builder.single(group.name, group.nodes, group.ranks);
    const GroupShape its{group.nodes * group.ranks, group.ranks, group.nodes,
                         group.nodes > 1 ? 1 : 0};
    for (CollectiveKind kind : kKinds)
      for (double kib : sizes) {
        builder.barrier();
        builder.record(builder.collective(kind, comm, Bytes(kib * kKiB)), group.name, its, true);
      }
  }
}

// All groups of a mesh axis at once: inside nodes they do not meet, across nodes they share NICs.
void add_families(Builder& builder, const TestbedShape& shape, double kib) {
  const int nodes = shape.nodes, ranks = shape.ranks_per_node;
  const CommId inside = builder.axes("every node", {{ranks, true}, {nodes, false}});
  const CommId across = builder.axes("every slot", {{ranks, false}, {nodes, true}});
  const GroupShape in{ranks, ranks, 1, 0}, out{nodes, 1, nodes, 1};
  for (CollectiveKind kind : kKinds) {
    if (ranks > 1 && nodes > 1) {
      builder.barrier();
      builder.record(builder.collective(kind, inside, Bytes(kib * kKiB)),
                     fmt::format("{} nodes at once", nodes), in, false);
    }
    if (nodes > 1 && ranks > 1) {
      builder.barrier();
      builder.record(builder.collective(kind, across, Bytes(kib * kKiB / ranks)),
                     fmt::format("{} groups across nodes at once", ranks), out, false);
    }
  }
  if (nodes < 2 || ranks < 2) return;
  // Two communicators on two streams.
  builder.barrier();
  const OpId a = builder.collective(CollectiveKind::all_gather, inside, Bytes(kib * kKiB), 1);
  const OpId b =
      builder.collective(CollectiveKind::all_reduce, across, Bytes(kib * kKiB / ranks), 2);
  builder.record(a, "every node, beside an all_reduce across", in, false);
  builder.record(b, "every slot, beside an all_gather inside", out, false);
}

// Sizes stay whole multiples of what every group divides into.
std::vector<double> scaled(std::vector<double> sizes, double scale) {
  for (double& size : sizes) size *= scale;
  return sizes;
}

}  // namespace

Schedule pilot(const TestbedShape& shape, Bytes bytes) {
  Builder builder("pilot", shape);
  const CommId all = builder.single("whole job", shape.nodes, shape.ranks_per_node);
  builder.barrier();
  builder.collective(CollectiveKind::all_reduce, all, bytes);
  return builder.finish().schedule;
}

Benchmark fit_benchmark(const TestbedShape& shape, bool quick, double scale) {
  Builder builder("microbenchmark", shape);
  // Small parts show the hops, large ones the rates.
  const std::vector<double> sizes = scaled(
      quick ? std::vector<double>{96, 1024} : std::vector<double>{64, 256, 768, 2048}, scale);
  add_sweep(builder, shape, quick, sizes);
  return builder.finish();
}

Benchmark test_benchmark(const TestbedShape& shape, bool quick, double scale) {
  Builder builder("test of the fit", shape);
  const std::vector<double> sizes =
      scaled(quick ? std::vector<double>{512} : std::vector<double>{320, 768, 1536}, scale);
  add_sweep(builder, shape, true, sizes);
  add_families(builder, shape, (quick ? 512 : 1280) * scale);
  return builder.finish();
}

std::vector<Seconds> measured_durations(const Schedule& schedule, const ExecTrace& trace, OpId op) {
  const Communicator& comm =
      schedule.communicators[schedule.op(op).collective->communicator.position()];
  // By step and repetition, then by group: start of the last member, end of the last member.
  std::map<std::pair<int, std::int64_t>, std::map<int, std::pair<Seconds, Seconds>>> spans;
  for (const ExecRecord& record : trace.records) {
    if (record.op != op) continue;
    auto& [start, end] =
        spans[{record.step, record.repetition}][comm.membership(record.rank)->group];
    start = std::max(start, record.start);
    end = std::max(end, record.end);
  }
  std::vector<Seconds> durations;
  for (const auto& [instance, groups] : spans) {
    Seconds longest;
    for (const auto& [group, span] : groups) longest = std::max(longest, span.second - span.first);
    durations.push_back(longest);
  }
  return durations;
}

Seconds measured_duration(const Schedule& schedule, const ExecTrace& trace, OpId op) {
  return median(measured_durations(schedule, trace, op));
}

std::string measurements_csv(const std::vector<MeasuredCollective>& rows) {
  std::string text = "collective,gpus,nodes,ranks_per_node,message_bytes,time_s\n";
  for (const MeasuredCollective& row : rows)
    text +=
        fmt::format("{},{},{},{},{:.0f},{:.9f}\n", name_of(row.kind), row.shape.ranks,
                    row.shape.nodes, row.shape.ranks_per_node, row.bytes.value(), row.time.value());
  return text;
}

std::vector<MeasuredCollective> measurements(const Benchmark& benchmark, const ExecTrace& trace) {
  std::vector<MeasuredCollective> rows;
  for (const BenchmarkCase& one : benchmark.cases) {
    const CollectivePart& part = *benchmark.schedule.op(one.op).collective;
    rows.push_back(
        {part.kind, one.shape, part.bytes, measured_duration(benchmark.schedule, trace, one.op)});
  }
  return rows;
}

}  // namespace amsp
