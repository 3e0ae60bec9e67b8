// SPDX-License-Identifier: Apache-2.0
// Runs that cannot both be of one machine: one is fitted, the other refused with the reason.
#include "calibrate/contradictions.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "base/file.hpp"
#include "calibrate/calibrate_files.hpp"

using namespace amsp;
namespace fs = std::filesystem;

namespace {

// A ring's times: 20 us and busbw of 100 GB/s, all scaled.
std::vector<Observation> run_of(const std::string& file, int number, int ranks, double scale,
                                CollectiveKind kind = CollectiveKind::all_reduce) {
  std::vector<Observation> rows;
  for (int power = 12; power <= 30; ++power) {
    Observation row;
    row.kind = kind;
    row.shape = {ranks, 8, ranks / 8, 0};
    row.bytes = Bytes(std::exp2(power));
    row.time = Seconds((20e-6 + row.bytes.value() / 1e11 * bus_factor(kind, ranks)) * scale);
    row.source = file;
    row.place = fmt::format("line {}", power);
    row.run = number;
    rows.push_back(row);
  }
  return rows;
}

Observations together(std::initializer_list<std::vector<Observation>> runs) {
  Observations all;
  for (const auto& run : runs) all.rows.insert(all.rows.end(), run.begin(), run.end());
  settle_contradictions(all);
  return all;
}

std::size_t rows_of(const Observations& all, const std::string& file) {
  std::size_t rows = 0;
  for (const Observation& row : all.rows) rows += row.source == file ? 1 : 0;
  return rows;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("of two runs that contradict each other the faster is fitted, the other refused whole") {
  for (const bool slow_first : {false, true}) {
    const auto fast = run_of("fast", slow_first ? 2 : 1, 16, 1);
    const auto slow = run_of("slow", slow_first ? 1 : 2, 16, 3);
    const Observations all = slow_first ? together({slow, fast}) : together({fast, slow});
    CHECK(rows_of(all, "fast") == fast.size());
    CHECK(rows_of(all, "slow") == 0);
    REQUIRE(all.refused.size() == 1);
    CHECK(all.refused[0].file == "slow");
    CHECK(all.refused[0].place == "line 12 to line 30");
    CHECK(has(all.refused[0].reason,
              "contradicts fast line 12 to line 30: times longer by a "
              "factor of 3 (median of 7 sizes from 16 MiB); the faster"));
    REQUIRE(all.warnings.size() == 1);
    CHECK(has(all.warnings[0], "contradiction: all_reduce over 16 ranks, slow line 12"));
  }
}

TEST_CASE("runs that scatter, of other groups, kinds or forced choices, do not contradict") {
  auto forced = run_of("f", 3, 16, 5);
  for (Observation& row : forced) row.forced_protocol = Protocol::ll;
  const Observations all =
      together({run_of("a", 1, 16, 1), run_of("b", 2, 16, 1.9), forced, run_of("c", 4, 32, 4),
                run_of("d", 5, 16, 6, CollectiveKind::all_gather)});
  CHECK(all.rows.size() == 5 * 19);
  CHECK(all.refused.empty());
  CHECK(all.warnings.empty());
}

TEST_CASE("the run that more runs agree with is kept, also where it is slower") {
  const Observations all =
      together({run_of("fast", 1, 16, 1), run_of("one", 2, 16, 3), run_of("two", 3, 16, 3.3)});
  CHECK(rows_of(all, "fast") == 0);
  CHECK(all.rows.size() == 2 * 19);
  REQUIRE(all.refused.size() == 1);
  CHECK(has(all.refused[0].reason, "times shorter by a factor of 3 "));
  CHECK(has(all.refused[0].reason, "1 other run agrees with it"));
}

TEST_CASE("the run that the other scales agree with is kept") {
  const Observations all = together({run_of("fast", 1, 32, 1), run_of("slow", 2, 32, 3),
                                     run_of("slow 16", 3, 16, 3), run_of("slow 64", 4, 64, 3)});
  CHECK(rows_of(all, "fast") == 0);
  CHECK(rows_of(all, "slow") == 19);
  REQUIRE(all.refused.size() == 1);
  CHECK(has(all.refused[0].reason, "the bandwidth at other scales agrees with it"));
  // Both settings at every scale: neither is better supported, and the faster is taken.
  const Observations both = together(
      {run_of("a", 1, 16, 1), run_of("b", 2, 32, 1), run_of("c", 3, 16, 3), run_of("d", 4, 32, 3)});
  CHECK(rows_of(both, "a") + rows_of(both, "b") == 2 * 19);
  CHECK(rows_of(both, "c") + rows_of(both, "d") == 0);
}

TEST_CASE("a single size that stalled costs its row, not the run") {
  auto stalled = run_of("b", 2, 16, 1.1);
  stalled[15].time = stalled[15].time * 4;  // 128 MiB
  const Observations all = together({run_of("a", 1, 16, 1), stalled});
  CHECK(rows_of(all, "a") == 19);
  CHECK(rows_of(all, "b") == 18);
  REQUIRE(all.refused.size() == 1);
  CHECK(all.refused[0].place == "line 27");
  CHECK(has(all.refused[0].reason, "which it agrees with elsewhere: longer by a factor of 4.4"));
  // Alone against two that agree, the fastest is the wrong one.
  auto odd = run_of("c", 3, 16, 1);
  odd[15].time = odd[15].time / 4;
  const Observations three = together({run_of("a", 1, 16, 1), run_of("b", 2, 16, 1.1), odd});
  CHECK(rows_of(three, "c") == 18);
  CHECK(rows_of(three, "a") + rows_of(three, "b") == 38);
}

TEST_CASE("up to 32 MiB, as nccl-tests goes without options, all sizes are judged together") {
  const auto cut = [](std::vector<Observation> rows) {
    std::erase_if(rows, [](const Observation& row) { return row.bytes > Bytes(33554432.0); });
    return rows;
  };
  const Observations all = together({cut(run_of("a", 1, 16, 1)), cut(run_of("b", 2, 16, 5))});
  CHECK(rows_of(all, "a") == 14);
  CHECK(rows_of(all, "b") == 0);
  REQUIRE(all.refused.size() == 1);
  CHECK(has(all.refused[0].reason, "factor of 5 (median of 14 sizes)"));
}

TEST_CASE("a single common size is judged alone, and nothing is said of others") {
  auto slow = run_of("b", 2, 16, 5);
  slow.resize(1);
  const Observations all = together({run_of("a", 1, 16, 1), slow});
  CHECK(rows_of(all, "b") == 0);
  REQUIRE(all.refused.size() == 1);
  CHECK_FALSE(has(all.refused[0].reason, "agrees"));
}

TEST_CASE("repetitions in a table sorted by size are runs of all its sizes") {
  std::string text = "collective,gpus,message_bytes,time_s\n";
  for (int power = 10; power <= 25; ++power)
    for (const double scale : {1.0, 5.0, 1.02})
      text += fmt::format("all_reduce,16,{},{:.6e}\n", 1 << power,
                          (20e-6 + (1 << power) / 1e11 * 1.875) * scale);
  const auto runs = read_log_text(text, "sorted.csv");
  REQUIRE(runs.size() == 3);
  for (const MeasuredRun& run : runs) {
    CHECK(run.rows.size() == 16);
  }
}

TEST_CASE("files of two settings: one is fitted, and the report's sources say so") {
  const fs::path folder = fs::temp_directory_path() / fmt::format("amsp-two-{}", ::getpid());
  const auto table = [&](const std::string& name, double scale) {
    std::string text = "collective,gpus,message_bytes,time_s\n";
    for (int power = 10; power <= 30; ++power)
      text += fmt::format("all_reduce,16,{:.0f},{:.6e}\n", std::exp2(power),
                          (20e-6 + std::exp2(power) / 1e11) * scale);
    write_file(folder / name, text);
    return (folder / name).string();
  };
  const std::string one = table("one.csv", 1), near = table("near.csv", 1.5);
  const std::string far = table("far.csv", 3);
  const Measurements agree = read_measurements({one, near}, "a800-4hdr");
  CHECK(agree.observations.rows.size() == 42);
  const Measurements all = read_measurements({one, far}, "a800-4hdr");
  CHECK(all.observations.rows.size() == 21);
  REQUIRE(all.warnings.size() == 1);
  CHECK(has(all.warnings[0], "far.csv"));
  CHECK(has(all.warnings[0], "one.csv"));
  CHECK(has(all.warnings[0], "a factor of 3 "));
  CHECK(all.sources[0].rows_used == 21);
  CHECK(all.sources[1].rows_used == 0);
  fs::remove_all(folder);
}

TEST_CASE("Polaris over RDMA and over TCP: the run that the other scales fit is kept") {
  const char* folder = std::getenv("AMSP_CORPUS");
  if (folder == nullptr) {
    std::cout << "skipped: AMSP_CORPUS does not name the folder of the corpus\n";
    return;
  }
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder))
    for (const char* number : {"011-", "012-", "013-"})
      if (entry.path().filename().string().starts_with(number)) files.push_back(entry.path());
  REQUIRE(files.size() == 3);
  const Measurements all = read_measurements(files, "");
  REQUIRE(all.warnings.size() == 1);
  CHECK(has(all.warnings[0], "013-a100-8n32g-all_reduce-tcp.txt line"));
  CHECK(has(all.warnings[0], "not used, contradicts 012-"));
  for (const CalibrationSource& source : all.sources)
    CHECK((source.rows_used == 0) == source.file.starts_with("013-"));
}
