// SPDX-License-Identifier: Apache-2.0
#include "calibrate/bench_run.hpp"

#include <algorithm>
#include <cassert>

#include "base/units_text.hpp"
#include "calibrate/logs/log_names.hpp"

namespace amsp::bench {
namespace {

constexpr Bytes kFloat(4);

// Kinds whose whole buffer consists of a part for each rank.
bool has_parts(CollectiveKind kind) {
  return kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter ||
         kind == CollectiveKind::all_to_all;
}

}  // namespace

BenchSize bench_size(CollectiveKind kind, Bytes asked, int ranks) {
  const auto whole = static_cast<std::int64_t>(asked / kFloat);
  if (!has_parts(kind)) return {whole, kFloat * static_cast<double>(whole)};
  const std::int64_t part = whole / ranks;
  return {part, kFloat * static_cast<double>(part * ranks)};
}

std::vector<Bytes> bench_sizes(Bytes least, Bytes most, int ranks) {
  const Bytes smallest = kFloat * ranks;
  if (!(least >= smallest))
    throw InputError({"command line", "--min"},
                     to_text(least) + " is less than one float for each of the " +
                         std::to_string(ranks) + " ranks, " + to_text(smallest));
  if (!(most >= least))
    throw InputError({"command line", "--max"},
                     to_text(most) + " is less than --min, " + to_text(least));
  std::vector<Bytes> sizes;
  for (Bytes bytes = least; bytes <= most; bytes *= 2) sizes.push_back(bytes);
  return sizes;
}

MeasuredRun bench_run(CollectiveKind kind, const GroupPlacement& group, std::string gpu,
                      int nccl_version) {
  MeasuredRun run;
  run.collective = kind;
  run.nranks = group.ranks;
  if (group.ranks_a_node) {
    run.gpus_per_node = std::min(group.ranks, *group.ranks_a_node);
    run.nnodes = (group.ranks + *run.gpus_per_node - 1) / *run.gpus_per_node;
  }
  run.gpu = std::move(gpu);
  run.library = "NCCL";
  run.nccl_version = version_of_code(nccl_version);
  return run;
}

void add_bench_row(MeasuredRun& run, Bytes asked, Seconds time) {
  assert(run.collective && run.nranks);
  const CollectiveKind kind = *run.collective;
  const BenchSize size = bench_size(kind, asked, *run.nranks);
  const bool reduces = kind == CollectiveKind::all_reduce || kind == CollectiveKind::reduce ||
                       kind == CollectiveKind::reduce_scatter;
  MeasuredRow row;
  row.bytes = size.bytes;
  row.count = size.count;
  row.dtype = Dtype::fp32;
  row.dtype_text = "float";
  row.redop = reduces ? "sum" : "none";
  if (kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce) row.root = 0;
  row.out_of_place.time = time;
  row.out_of_place.algbw = size.bytes / time;
  row.out_of_place.busbw = size.bytes / time * bus_factor(kind, *run.nranks);
  run.rows.push_back(std::move(row));
}

}  // namespace amsp::bench
