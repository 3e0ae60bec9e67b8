// SPDX-License-Identifier: Apache-2.0
// What nccl-bench prints, read back by the log readers: no row refused, nothing lost.
#include "calibrate/bench_run.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "calibrate/logs/write_runs.hpp"

using namespace amsp;

namespace {

const CollectiveKind measured_kinds[] = {CollectiveKind::all_reduce,     CollectiveKind::all_gather,
                                         CollectiveKind::reduce_scatter, CollectiveKind::broadcast,
                                         CollectiveKind::reduce,         CollectiveKind::all_to_all,
                                         CollectiveKind::send_recv};

MeasuredRun measured(CollectiveKind kind, const bench::GroupPlacement& group) {
  MeasuredRun run = bench::bench_run(kind, group, "NVIDIA H100 80GB HBM3", 22203);
  // 1000 B x 3^k: most of these are no whole number of floats for each of 6 or 16 ranks.
  double asked = 1000;
  for (int k = 0; k < 12; ++k, asked *= 3)
    bench::add_bench_row(run, Bytes(asked), microseconds(12.25 + std::round(asked / 1e4)));
  return run;
}

// Printed with two decimals, or as many as seven characters hold.
bool as_printed(double read, double written) {
  return std::abs(read - written) <= std::max(0.00501, 5e-6 * written);
}

void check_same(const MeasuredRun& read, const MeasuredRun& written) {
  REQUIRE(read.refused.empty());
  CHECK(read.collective == written.collective);
  CHECK(read.nranks == written.nranks);
  CHECK(read.nnodes == written.nnodes);
  CHECK(read.gpus_per_node == written.gpus_per_node);
  CHECK(read.gpu == written.gpu);
  CHECK(read.nccl_version == "2.22.3");
  REQUIRE(read.rows.size() == written.rows.size());
  for (std::size_t i = 0; i < written.rows.size(); ++i) {
    const MeasuredRow &a = read.rows[i], &b = written.rows[i];
    CHECK(a.bytes == b.bytes);
    CHECK(a.count == b.count);
    CHECK(a.dtype == b.dtype);
    CHECK(a.redop == b.redop);
    CHECK(a.root == b.root);
    REQUIRE(a.out_of_place.time);
    CHECK(as_printed(a.out_of_place.time->value() * 1e6, b.out_of_place.time->value() * 1e6));
    CHECK(as_printed(a.out_of_place.algbw->value() * 1e-9, b.out_of_place.algbw->value() * 1e-9));
    CHECK(as_printed(a.out_of_place.busbw->value() * 1e-9, b.out_of_place.busbw->value() * 1e-9));
  }
}

}  // namespace

TEST_CASE("what nccl-bench prints is read without a refused row, for every kind it measures") {
  for (const CollectiveKind kind : measured_kinds)
    for (const auto& group : {bench::GroupPlacement{6, 8}, {8, 8}, {16, 8}, {32, 4}}) {
      INFO(name_of(kind) << " over " << group.ranks << " ranks");
      const MeasuredRun run = measured(kind, group);
      const auto read = read_log_text(run_to_nccl_tests_text(run), "bench.txt");
      REQUIRE(read.size() == 1U);
      check_same(read[0], run);
    }
}

TEST_CASE("nccl-bench without the ranks of a node says ranks and GPU, and no number of nodes") {
  for (const CollectiveKind kind : measured_kinds) {
    INFO(name_of(kind));
    const MeasuredRun run = measured(kind, {16, std::nullopt});
    CHECK_FALSE(run.nnodes);
    const auto read = read_log_text(run_to_nccl_tests_text(run), "bench.txt");
    REQUIRE(read.size() == 1U);
    check_same(read[0], run);
  }
}

TEST_CASE("several tables of one nccl-bench run keep their own kind and nodes") {
  std::string text;
  for (const CollectiveKind kind : measured_kinds)
    text += run_to_nccl_tests_text(measured(kind, {16, 8}));
  text += run_to_nccl_tests_text(measured(CollectiveKind::all_reduce, {4, 8}));
  const auto read = read_log_text(text, "bench.txt");
  REQUIRE(read.size() == std::size(measured_kinds) + 1);
  for (std::size_t i = 0; i < std::size(measured_kinds); ++i)
    check_same(read[i], measured(measured_kinds[i], {16, 8}));
  check_same(read.back(), measured(CollectiveKind::all_reduce, {4, 8}));
}

TEST_CASE("sizes of nccl-bench: what is really moved, and no endless loop from zero") {
  using bench::bench_size;
  CHECK(bench_size(CollectiveKind::all_reduce, Bytes(1003), 6).count == 250);
  CHECK(bench_size(CollectiveKind::all_reduce, Bytes(1003), 6).bytes == Bytes(1000));
  CHECK(bench_size(CollectiveKind::all_gather, Bytes(1000), 6).count == 41);
  CHECK(bench_size(CollectiveKind::all_gather, Bytes(1000), 6).bytes == Bytes(984));
  CHECK(bench::bench_sizes(Bytes(24), Bytes(100), 6) ==
        std::vector<Bytes>{Bytes(24), Bytes(48), Bytes(96)});
  CHECK_THROWS_AS(bench::bench_sizes(Bytes(0), Bytes(100), 6), InputError);
  CHECK_THROWS_AS(bench::bench_sizes(Bytes(23), Bytes(100), 6), InputError);
  CHECK_THROWS_AS(bench::bench_sizes(Bytes(200), Bytes(100), 6), InputError);
}
