// SPDX-License-Identifier: Apache-2.0
// Table layouts and what surrounds them, on fixtures with known numbers.
#include <catch2/catch.hpp>
#include <functional>
#include <sstream>

#include "base/error.hpp"
#include "base/file.hpp"
#include "calibrate/logs/measurement.hpp"

using namespace amsp;

namespace {

std::string fixture_path(const std::string& name) {
  return std::string(AMSP_TEST_FOLDER) + "/calibrate/fixtures/" + name;
}

MeasuredRun only_run(const std::string& name) {
  auto runs = read_logs(fixture_path(name));
  REQUIRE(runs.size() == 1);
  return runs.front();
}

bool mentions(const std::vector<std::string>& notes, const std::string& part) {
  for (const std::string& note : notes)
    if (note.find(part) != std::string::npos) return true;
  return false;
}

// bytes / time must be algbw: the readers' units are right, whatever the layout.
void check_consistent(const MeasuredRun& run, double algbw_share = 1) {
  for (const MeasuredRow& row : run.rows)
    for (const MeasuredTiming* half : {&row.out_of_place, &row.in_place})
      if (half->time && half->algbw)
        CHECK(half->algbw->value() ==
              Approx(algbw_share * row.bytes.value() / half->time->value()).epsilon(0.01));
}

struct Expected {
  const char* file;
  std::optional<CollectiveKind> kind;
  int nranks, nnodes;
  std::size_t rows;
  const char* gpu;
};

}  // namespace

TEST_CASE("layouts of every age") {
  using K = CollectiveKind;
  const Expected table[] = {
      {"nccl20-all_reduce-ms.txt", K::all_reduce, 8, 1, 7, "Tesla P100-SXM2-16GB"},
      {"nccl20-broadcast-ms.txt", K::broadcast, 8, 1, 7, "Tesla P100-SXM2-16GB"},
      {"nccl24-broadcast.txt", K::broadcast, 4, 1, 7, "Tesla V100-SXM2-32GB"},
      {"nccl24-reduce.txt", K::reduce, 4, 1, 7, "Tesla V100-SXM2-32GB"},
      {"cputime-timestamp.txt", K::all_reduce, 2, 2, 7, "NVIDIA L40S"},
      {"per-iteration.txt", K::reduce_scatter, 8, 1, 7, "NVIDIA B200"},
      {"rccl-in-place-only.txt", K::all_reduce, 8, 1, 7, "AMD Instinct MI300X"},
      {"rows-torn-by-info.txt", K::all_reduce, 4, 2, 7, "NVIDIA H100 NVL"},
      {"types-and-reductions.txt", K::all_reduce, 8, 1, 60, "NVIDIA H100 80GB HBM3"},
      {"split-groups.txt", K::all_reduce, 4, 2, 7, "NVIDIA B300"},
      {"program-gather.txt", K::gather, 8, 2, 7, "NVIDIA A100-SXM4-80GB"},
      {"program-scatter.txt", K::scatter, 8, 2, 7, "NVIDIA A100-SXM4-80GB"},
      {"program-alltoall.txt", K::all_to_all, 8, 2, 7, "NVIDIA A100-SXM4-80GB"},
      {"program-reduce.txt", K::reduce, 8, 2, 7, "NVIDIA A100-SXM4-80GB"},
      {"milliseconds.txt", K::all_reduce, 8, 1, 7, "NVIDIA H200"}};
  for (const Expected& expected : table) {
    INFO(expected.file);
    const MeasuredRun run = only_run(expected.file);
    CHECK(run.collective == expected.kind);
    CHECK(run.nranks == expected.nranks);
    CHECK(run.nnodes == expected.nnodes);
    CHECK(run.rows.size() == expected.rows);
    CHECK(run.refused.empty());
    CHECK(run.gpu == expected.gpu);
    check_consistent(run);
  }
}

TEST_CASE("gathers before June 2020 count only the part that moves") {
  const MeasuredRun run = only_run("nccl24-all_gather.txt");
  CHECK(run.collective == CollectiveKind::all_gather);
  CHECK(run.nranks == 4);
  CHECK(run.refused.empty());
  CHECK(mentions(run.notes, "(n-1)/n"));
  check_consistent(run, 0.75);
}

TEST_CASE("hypercube is read but is none of the kinds") {
  const MeasuredRun run = only_run("program-hypercube.txt");
  CHECK_FALSE(run.collective.has_value());
  CHECK(run.collective_text == "hypercube_perf");
  CHECK(run.rows.size() == 7);
  CHECK(run.nranks == 8);
}

TEST_CASE("columns beside the usual ones") {
  const MeasuredRun cpu = only_run("cputime-timestamp.txt");
  CHECK(cpu.cpu_time);
  const MeasuredRun in_place = only_run("rccl-in-place-only.txt");
  CHECK(in_place.library == "RCCL");
  CHECK(in_place.nccl_version == "2.22.3");
  for (const MeasuredRow& row : in_place.rows) {
    CHECK_FALSE(row.out_of_place.time.has_value());
    CHECK(row.in_place.time.has_value());
    CHECK(row.dtype == Dtype::bf16);
  }
  const MeasuredRun per_iteration = only_run("per-iteration.txt");
  CHECK(per_iteration.nccl_version == "2.30.4");
  CHECK(per_iteration.rows[0].redop == "avg");
  const MeasuredRun typed = only_run("types-and-reductions.txt");
  CHECK(typed.rows[0].redop == "sum");
  CHECK(typed.rows[5].redop == "mulsum");
  CHECK(typed.rows[59].dtype == Dtype::fp8);
  CHECK_FALSE(typed.rows[0].out_of_place.wrong.has_value());
  CHECK(only_run("nccl24-broadcast.txt").rows[0].root == 2);
}

namespace {

const char* const kPrefixes[] = {"[1,0]<stdout>:",
                                 "[1,0]<stdout>: ",
                                 "[prterun-a-12@1,0]<stdout>: ",
                                 "Thu Jul 18 15:41:05 2024<stdout>:",
                                 "Thu Jul 18 15:41:05 2024[1,0]<stdout>:",
                                 "0: ",
                                 " 0: ",
                                 "128: ",
                                 "[0] ",
                                 "[0]: ",
                                 "[rank0]: ",
                                 "[rank0]:",
                                 "[default0]:",
                                 "worker-0  | ",
                                 "node-00: ",
                                 "2025-03-04T05:06:07.123456789Z ",
                                 "2025-03-04 05:06:07,123 ",
                                 "[2025-03-04 05:06:07] ",
                                 "05:06:07 ",
                                 "> ",
                                 ">>> ",
                                 "> > ",
                                 "\t",
                                 "    ",
                                 "   > ",
                                 "- ",
                                 "* ",
                                 "+",
                                 "+ ",
                                 "\x1b[32m",
                                 "\x1b[0;1m",
                                 "2025-03-04 05:06:07,123 - INFO - ",
                                 "[pod/nccl-launcher-x7/mpi] ",
                                 "Mar  4 05:06:07 node-00 slurm[99]: ",
                                 "  12\t",
                                 "\xef\xbb\xbf",
                                 "\xc2\xa0\xc2\xa0",
                                 "INFO:root:",
                                 "[1700000000.1] [host:12:0] "};

void check_equal(const MeasuredRun& run, const MeasuredRun& plain) {
  REQUIRE(run.rows.size() == plain.rows.size());
  CHECK(run.nranks == plain.nranks);
  CHECK(run.nnodes == plain.nnodes);
  CHECK(run.gpu == plain.gpu);
  CHECK(run.avg_busbw == plain.avg_busbw);
  CHECK(run.refused.empty());
  for (std::size_t i = 0; i < plain.rows.size(); ++i) {
    CHECK(run.rows[i].bytes == plain.rows[i].bytes);
    CHECK(run.rows[i].out_of_place.time == plain.rows[i].out_of_place.time);
    CHECK(run.rows[i].in_place.busbw == plain.rows[i].in_place.busbw);
  }
}

}  // namespace

TEST_CASE("what launchers and tools put before lines changes nothing") {
  const std::string base = read_file(fixture_path("prefix-base.txt"));
  const MeasuredRun plain = read_log_text(base, "plain").at(0);
  REQUIRE(plain.rows.size() == 7);
  CHECK(plain.nnodes == 2);
  CHECK(plain.gpu == "NVIDIA A10G");
  CHECK(plain.collective == CollectiveKind::send_recv);
  for (const char* prefix : kPrefixes)
    for (const char* ending : {"\n", "\r\n", " \n", "\x1b[0m\n"}) {
      INFO("prefix \"" << prefix << "\"");
      std::string text;
      std::istringstream lines(base);
      for (std::string line; std::getline(lines, line);) text += prefix + line + ending;
      const auto runs = read_log_text(text, "plain");
      REQUIRE(runs.size() == 1);
      check_equal(runs[0], plain);
    }
}

TEST_CASE("UTF-16, as PowerShell's redirection writes it, changes nothing but beyond ASCII") {
  const std::string plain =
      "# nccl-tests 2.13.8 \xc2\xb5s \xe2\x82\xac\r\n"  // a micro sign, a euro sign
      "all_reduce_perf -b 8M -e 16M -f 2 -g 4\r\n"
      "# nThread 1 nGpus 4 minBytes 8388608 maxBytes 16777216 step: 2(factor) warmup iters: 5 "
      "iters: 20 agg iters: 1 validation: 1 graph: 0\r\n"
      "#       size         count      type   redop    root     time   algbw   busbw #wrong\r\n"
      "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)\r\n"
      "     8388608       2097152     float     sum      -1    100.0   83.89  125.83      0\r\n"
      "    16777216       4194304     float     sum      -1    200.0   83.89  125.83      0\r\n";
  const auto expected = read_log_text(plain, "plain");
  REQUIRE(expected.size() == 1);
  REQUIRE(expected.front().rows.size() == 2);
  for (const bool little : {true, false}) {
    std::string wide;
    const auto put = [&](unsigned code) {
      const char high = static_cast<char>(code >> 8U), low = static_cast<char>(code & 0xffU);
      wide += little ? low : high;
      wide += little ? high : low;
    };
    put(0xfeff);
    for (std::size_t i = 0; i < plain.size(); ++i) {
      if (plain[i] == '\xc2') {
        put(0xb5);
        i += 1;
      } else if (plain[i] == '\xe2') {
        put(0x20ac);
        i += 2;
      } else {
        put(static_cast<unsigned char>(plain[i]));
      }
    }
    INFO("little-endian: " << little);
    const auto runs = read_log_text(wide, "wide");
    REQUIRE(runs.size() == 1);
    const MeasuredRun& run = runs.front();
    CHECK(run.collective == CollectiveKind::all_reduce);
    CHECK(run.nranks == expected.front().nranks);
    REQUIRE(run.rows.size() == 2);
    CHECK(run.rows[0].bytes == Bytes(8388608));
    CHECK(run.rows[1].bytes == Bytes(16777216));
    CHECK(run.rows[0].out_of_place.time == microseconds(100));
    CHECK(run.rows[1].out_of_place.time == microseconds(200));
    // Cut in the middle of a character: the whole ones count.
    CHECK(read_log_text(wide + "1", "cut").front().rows.size() == 2);
  }
  // Two bytes a character without the mark are not text.
  std::string unmarked;
  for (const char c : plain) (unmarked += c) += '\0';
  CHECK_THROWS_AS(read_log_text(unmarked, "unmarked"), InputError);
}

TEST_CASE("programs that print at the same time are told apart by their labels") {
  const std::string one = read_file(fixture_path("prefix-base.txt"));
  const std::string two = read_file(fixture_path("program-scatter.txt"));
  const auto interleave = [&](const std::string& a, const std::string& b) {
    std::string text;
    std::istringstream first(one), second(two);
    for (bool more = true; more;) {
      more = false;
      std::string line;
      if (std::getline(first, line)) text += a + line + "\n", more = true;
      if (std::getline(second, line)) text += b + line + "\n", more = true;
    }
    return text;
  };
  for (const std::string& text :
       {interleave("0: ", "1: "), interleave("[1,0]<stdout>:", "[1,12]<stdout>:"),
        interleave("node-a: ", "node-b: ")}) {
    const auto runs = read_log_text(text, "both");
    REQUIRE(runs.size() == 2);
    CHECK(runs[0].collective == CollectiveKind::send_recv);
    CHECK(runs[0].rows.size() == 7);
    CHECK(runs[1].collective == CollectiveKind::scatter);
    CHECK(runs[1].rows.size() == 7);
    CHECK(runs[1].refused.empty());
  }
}

TEST_CASE("a table of nccl-tests between Markdown bars") {
  const MeasuredRun run = only_run("bars.md");
  CHECK(run.rows.size() == 7);
  CHECK(run.nranks == 8);
  CHECK(run.collective == CollectiveKind::all_reduce);
  check_consistent(run);
}

TEST_CASE("several commands in a file: each table belongs to its own") {
  const auto runs = read_logs(fixture_path("two-commands.txt"));
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].collective == CollectiveKind::all_reduce);
  CHECK(runs[0].algorithm == "ring");
  CHECK(runs[0].protocol == "Simple");
  CHECK(runs[0].nranks == 8);
  CHECK(runs[1].collective == CollectiveKind::broadcast);
  CHECK(runs[1].algorithm.empty());
  CHECK(runs[1].nranks == 8);
}

TEST_CASE("rows that contradict themselves are refused with the reason") {
  const MeasuredRun run = only_run("contradictions.txt");
  REQUIRE(run.refused.size() == 3);
  CHECK(run.rows.size() == 4);
  CHECK(run.refused[0].reason.find("algbw is 73.97 GB/s, but 4194304 B") != std::string::npos);
  CHECK(run.refused[1].reason.find("is not count") != std::string::npos);
  CHECK(run.refused[2].reason.find("busbw") != std::string::npos);
  const MeasuredRun mixed = only_run("one-row-in-milliseconds.txt");
  REQUIRE(mixed.refused.size() == 1);
  CHECK(mixed.rows.size() == 6);
  CHECK(mixed.refused[0].reason.find("is the time in ms?") != std::string::npos);
  CHECK(mentions(only_run("milliseconds.txt").notes, "milliseconds"));
}

TEST_CASE("impossible numbers around a table are passed over") {
  // Found by fuzzing: no nodes; more threads x GPUs than an integer holds.
  const std::string row = "1048576 262144 float sum -1 50.00 20.97 36.70 0 49.00 21.40 37.45 0\n";
  const auto none = read_log_text(
      "a:1:2 [0] NCCL INFO comm 0x1 rank 0 nRanks 8 nNodes 0 localRanks 0 - Init COMPLETE\n" + row,
      "x");
  CHECK(none.at(0).nranks == 8);
  CHECK_FALSE(none.at(0).nnodes.has_value());
  const auto many =
      read_log_text("# nThread 9999999 nGpus 9999999 minBytes 8 maxBytes 8\n" + row, "x");
  CHECK(many.at(0).rows.size() == 1);
}

TEST_CASE("a run that failed is a run without rows") {
  const MeasuredRun run = only_run("failed-midway.txt");
  CHECK(run.rows.empty());
  CHECK(run.failure.find("Test CUDA failure") != std::string::npos);
  CHECK(run.nranks == 2);
}
