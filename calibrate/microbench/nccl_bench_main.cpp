// SPDX-License-Identifier: Apache-2.0
// nccl-bench: sweeps kinds, sizes, group sizes and concurrent groups, and measures collectives
// beside a GEMM. One process per GPU; torchrun, srun or mpirun starts them. Writes the layout of
// nccl-tests, one table for each kind and group, which `amsp calibrate` reads.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <vector>

#include "base/units_text.hpp"
#include "calibrate/bench_run.hpp"
#include "calibrate/logs/write_runs.hpp"
#include "calibrate/microbench/collective_loop.hpp"
#include "calibrate/microbench/rank_environment.hpp"

namespace amsp::bench {
namespace {

struct Settings {
  std::vector<std::string> kinds{"all_reduce", "all_gather", "reduce_scatter", "broadcast"};
  std::string least = "1MiB", most = "1GiB", id_file = "nccl-bench-id";
  std::vector<int> group_sizes;  // empty: all ranks
  bool concurrent = false;       // all groups of the size at once; else the first group alone
  int gemm = 0;                  // side of a GEMM that runs beside; 0 = none
  LoopSettings loop;
};

// The ranks of this process's group: consecutive, as a tensor- or data-parallel group is.
class Group {
 public:
  Group(const RankEnvironment& here, const Settings& settings, int size, int serial)
      : index_(here.rank / size),
        rank_(here.rank % size),
        size_(size),
        ranks_a_node_(here.local_size) {
    active_ = settings.concurrent || index_ == 0;
    if (!active_) return;
    const std::filesystem::path file =
        id_file(settings.id_file, here, fmt::format("{}.{}.{}", serial, size, index_));
    const ncclUniqueId id = shared_id(file, rank_ == 0);
    check(ncclCommInitRank(&communicator_, size, id, rank_));
    // Every rank has joined, so every rank has read it; a later run must not take it for its own.
    std::error_code ignored;
    if (rank_ == 0) std::filesystem::remove(file, ignored);
  }
  ~Group() {
    if (communicator_ != nullptr) ncclCommDestroy(communicator_);
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  [[nodiscard]] bool active() const { return active_; }
  [[nodiscard]] bool reports() const { return active_ && index_ == 0 && rank_ == 0; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] std::optional<int> ranks_a_node() const { return ranks_a_node_; }
  [[nodiscard]] ncclComm_t get() const { return communicator_; }

 private:
  int index_, rank_, size_;
  std::optional<int> ranks_a_node_;
  bool active_ = false;
  ncclComm_t communicator_ = nullptr;
};

MeasuredRun run_header(CollectiveKind kind, const Group& group) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0));
  int version = 0;
  check(ncclGetVersion(&version));
  return bench_run(kind, {group.size(), group.ranks_a_node()}, properties.name, version);
}

void measure(const Settings& settings, CollectiveKind kind, const Group& group) {
  const Bytes least = parse_bytes(settings.least, {"command line", "--min"});
  const Bytes most = parse_bytes(settings.most, {"command line", "--max"});
  const std::vector<Bytes> sizes = bench_sizes(least, most, group.size());
  CollectiveLoop loop(group.get(), group.size(), group.rank(), most);
  MeasuredRun run = run_header(kind, group);
  std::string beside;
  for (const Bytes bytes : sizes) {
    add_bench_row(run, bytes, loop.time(kind, bytes, settings.loop));
    if (settings.gemm == 0) continue;
    Gemm gemm(settings.gemm, settings.gemm, settings.gemm);
    const Seconds gemm_alone = loop.time_gemm(gemm, settings.loop);
    const Beside both = loop.time_beside(kind, bytes, gemm, settings.loop);
    beside += fmt::format(
        "# beside a GEMM of {0}x{0}x{0}: {1} {2}: collective x {3:.3f}, GEMM x {4:.3f}\n",
        settings.gemm, name_of(kind), human(bytes),
        both.collective / *run.rows.back().out_of_place.time, both.gemm / gemm_alone);
  }
  if (group.reports())
    fmt::print("# nccl-bench: {} warm-up, {} repetitions, mean\n{}{}", settings.loop.warm_up,
               settings.loop.repetitions, run_to_nccl_tests_text(run), beside);
}

void measure_all(const Settings& settings) {
  const int devices = device_count();
  const RankEnvironment here = rank_environment();
  check(cudaSetDevice(here.local_rank % devices));
  std::vector<int> sizes = settings.group_sizes;
  if (sizes.empty()) sizes.push_back(here.size);
  int serial = 0;
  for (const int size : sizes) {
    if (size < 1 || here.size % size != 0) {
      throw InputError(
          fmt::format("--group-sizes {}: does not divide the {} ranks", size, here.size));
    }
    const Group group(here, settings, size, serial++);
    if (!group.active()) continue;
    for (const std::string& kind : settings.kinds) {
      measure(settings, parse_collective_kind(kind, {"command line", "--kinds"}), group);
    }
  }
}

}  // namespace
}  // namespace amsp::bench

int main(int argc, char** argv) {
  amsp::bench::Settings settings;
  CLI::App app("Times of NCCL collectives in the layout of nccl-tests; one process per GPU");
  app.add_option("--kinds", settings.kinds, "collectives");
  app.add_option("--min", settings.least, "smallest whole buffer");
  app.add_option("--max", settings.most, "largest whole buffer");
  app.add_option("--group-sizes", settings.group_sizes, "ranks of a group (default: all)");
  app.add_flag("--concurrent", settings.concurrent, "all groups of a size at once");
  app.add_option("--gemm", settings.gemm, "side of a GEMM that runs beside")
      ->check(CLI::Range(0, 32768));
  app.add_option("--repetitions", settings.loop.repetitions)->check(CLI::Range(1, 100000));
  app.add_option("--warm-up", settings.loop.warm_up)->check(CLI::Range(0, 100000));
  app.add_option("--id-file", settings.id_file, "file on a file system that all ranks share");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;  // CLI11's own numbers are 100 and more
  }
  try {
    amsp::bench::measure_all(settings);
  } catch (const amsp::InputError& error) {
    fmt::print(stderr, "nccl-bench: {}\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "nccl-bench: {}\n", error.what());
    return 3;
  }
  return 0;
}
