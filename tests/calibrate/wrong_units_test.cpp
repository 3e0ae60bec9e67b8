// SPDX-License-Identifier: Apache-2.0
// Tables whose times are in another unit than their titles say, in one half or in both: converted
// where the table itself proves the unit, refused as a whole where it does not. Numbers are
// invented.
#include <fmt/format.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>

#include "base/error.hpp"
#include "base/file.hpp"
#include "calibrate/calibrate_files.hpp"
#include "calibrate/fit_report.hpp"
#include "calibrate/wrong_runs.hpp"

using namespace amsp;
namespace fs = std::filesystem;

namespace {

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("amsp-units-" + std::to_string(::getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  [[nodiscard]] std::string file(const std::string& name, std::string_view content) const {
    write_file(path_ / name, content);
    return (path_ / name).string();
  }

 private:
  fs::path path_;
};

struct Scale {
  double out_of_place = 1, in_place = 1, bandwidth = 1;
};

// As nccl-tests prints all-reduces of 16 ranks, 8 B to 2^last B, 20 us and 100 GB/s; the columns
// scaled after the bandwidths were computed.
std::string log_of(const Scale& scale, int first = 3, int last = 30) {
  std::string text =
      "# nThread 1 nGpus 1 minBytes 8 maxBytes 1073741824 step: 2(factor)\n"
      "# all_reduce_perf, 16 ranks\n"
      "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n";
  for (int power = first; power <= last; ++power) {
    const double bytes = std::exp2(power), us = 20 + bytes / 1e5, rate = bytes / us * 1e-3;
    const std::string rates =
        fmt::format("{:.2f} {:.2f} 0", rate * scale.bandwidth, rate * 30 / 16 * scale.bandwidth);
    text += fmt::format("{:.0f} {:.0f} float sum -1 {:.6g} {} {:.6g} {}\n", bytes, bytes / 4,
                        us * scale.out_of_place, rates, us * scale.in_place, rates);
  }
  return text;
}

MeasuredRun read(const std::string& text) {
  const auto runs = read_log_text(text, "x-2n16g-all_reduce.txt");
  REQUIRE(runs.size() == 1);
  return runs[0];
}

std::string wrong(const std::string& text) { return wrong_as_a_whole(read(text)).value_or(""); }

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string message_of(const std::vector<std::string>& files) {
  try {
    (void)read_measurements(files, "dgx-h100");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a unit that both halves prove is converted: ns and MB/s are told apart") {
  const double first = 20e-6 + 8e-11;
  for (const auto& [scale, note] :
       {std::pair{Scale{1e3, 1e3, 1}, "nanoseconds"}, std::pair{Scale{1, 1, 1e3}, "MB/s"},
        std::pair{Scale{1e-3, 1e-3, 1}, "milliseconds"}}) {
    CAPTURE(note);
    const MeasuredRun run = read(log_of(scale));
    CHECK(run.refused.empty());
    REQUIRE(run.rows.size() == 28);
    CHECK(run.rows[0].out_of_place.time->value() == Approx(first).epsilon(1e-4));
    CHECK(run.rows[27].in_place.busbw->value() == Approx(1.875e11).epsilon(0.01));
    bool noted = false;
    for (const std::string& text : run.notes) noted = noted || has(text, note);
    CHECK(noted);
    CHECK_FALSE(wrong_as_a_whole(run));
  }
}

TEST_CASE("ns or MB/s: where nothing tells which, nothing is converted") {
  // Large sizes only, at 90 GB/s or 90 MB/s.
  const std::string text = log_of({1e3, 1e3, 1}, 24, 30);
  CHECK(read(text).rows.empty());
  CHECK(has(wrong(text),
            "7 of 7 sizes contradict themselves by the same factor, 1000: is the time "
            "in ns, or algbw in MB/s?"));
}

TEST_CASE("a table that contradicts itself at most sizes is refused whole, with the likely unit") {
  const std::string ns = wrong(log_of({1e3, 1, 1}));
  CHECK(has(ns, "28 of 28 sizes contradict themselves by the same factor, 1000"));
  CHECK(has(ns, "is the time in ns"));
  CHECK(has(ns, "out of place takes 1000 times as long as in place: other units?"));
  const std::string ms = wrong(log_of({1, 1e-3, 1}));
  CHECK(has(ms, "is the time in ms?"));
  CHECK(has(wrong(log_of({1, 7, 1})), "by the same factor, 7"));
  CHECK(wrong(log_of({1, 1, 1})).empty());
  // Times edited by hand, each row in its own way.
  std::string edited = log_of({1, 1, 1}, 20, 19);  // the titles only
  for (const int power : {20, 21, 22, 23}) {
    const std::string one = log_of({power - 17.0, power - 17.0, 1}, power, power);
    edited += one.substr(one.rfind('\n', one.size() - 2) + 1);
  }
  CHECK(has(wrong(edited), "4 of 4 sizes contradict themselves by different factors"));
}

TEST_CASE(
    "halves a thousand apart are named in the row that contradicts, and count without algbw") {
  const MeasuredRun run = read(log_of({1, 1e3, 1}));
  REQUIRE_FALSE(run.refused.empty());
  CHECK(has(run.refused.back().reason, "in place takes 1000 times as long as out of place: other"));
  const std::string csv =
      "collective,gpus,message_bytes,oop_time_us,ip_time_us\n"
      "all_reduce,16,1048576,50,0.05\nall_reduce,16,2097152,80,0.08\n"
      "all_reduce,16,4194304,120,119\n";
  CHECK(wrong(csv) ==
        "2 of 3 sizes cannot be: out of place takes 1000 times as long as in place: other units?");
  // A cold first row is no unit.
  CHECK(wrong("collective,gpus,message_bytes,oop_time_us,ip_time_us\n"
              "all_reduce,16,1048576,5000,50\nall_reduce,16,2097152,80,81\n")
            .empty());
}

TEST_CASE("a wrong table leaves the fit; alone it is the error") {
  const Folder folder;
  const std::string bad = folder.file("bad-2n16g-all_reduce.txt", log_of({1e3, 1, 1}));
  const std::string good = folder.file("good-2n16g-all_reduce.txt", log_of({1, 1, 1}));
  const std::string alone = message_of({bad});
  CHECK(has(alone, "bad-2n16g-all_reduce.txt: lines 1 to 31: 28 of 28 sizes contradict"));
  const Measurements both = read_measurements({bad, good}, "dgx-h100");
  REQUIRE(both.warnings.size() == 1);
  CHECK(has(both.warnings[0], "bad-2n16g-all_reduce.txt: lines 1 to 31: 28 of 28 sizes"));
  CHECK(has(both.warnings[0], "nothing of this run is used"));
  CHECK(both.observations.rows.size() == 56);
  for (const Observation& row : both.observations.rows)
    CHECK(row.source == "good-2n16g-all_reduce.txt");
}

namespace {

// All-reduces over 8 to 32 ranks, 100 GB/s after 20 us, without an algbw that could tell the unit.
std::string csv_of(const std::string& title, double scale, int first, int last) {
  std::string text = "collective,gpus,message_bytes," + title + "\n";
  for (const int ranks : {8, 16, 32})
    for (int power = first; power <= last; ++power) {
      const double bytes = std::exp2(power);
      text += fmt::format("all_reduce,{},{:.0f},{:.6g}\n", ranks, bytes,
                          (20e-6 + bytes / 1e11) * scale);
    }
  return text;
}

}  // namespace

TEST_CASE(
    "a CSV in another unit than its title says: one warning, with the unit that makes sense") {
  const Folder folder;
  const auto only_warning = [&](const std::string& text) {
    const Measurements read = read_measurements({folder.file("u.csv", text)}, "dgx-h100");
    REQUIRE(read.warnings.size() == 1);
    return read.warnings[0];
  };
  const std::string late = only_warning(csv_of("time_s", 1e3, 10, 30));
  CHECK(has(late, "u.csv: line 2: "));
  CHECK(has(late, "(and 2 more tables): is the time in ms, not s? (1 GiB would then be 17"));
  const std::string slow = only_warning(csv_of("time_us", 1e9, 20, 30));
  CHECK(has(slow, "less than 1/30 of the "));
  CHECK(has(slow, "(and 2 more tables): is the time in ns, not us?"));
  CHECK(read_measurements({folder.file("fair.csv", csv_of("time_s", 1, 10, 30))}, "dgx-h100")
            .warnings.empty());
}

TEST_CASE("a table most of whose times are impossible is refused whole") {
  const Folder folder;
  // 1 GB/s after 80 us, in ms under "us": sizes up to 16 KiB are too fast, larger ones could be.
  std::string text = "collective,gpus,message_bytes,time_us\n";
  for (int power = 3; power <= 22; ++power)
    text += fmt::format("all_reduce,16,{:.0f},{:.6g}\n", std::exp2(power),
                        (80e-6 + std::exp2(power) / 1e9) * 1e3);
  const Measurements read = read_measurements({folder.file("part.csv", text)}, "dgx-h100");
  CHECK(read.observations.rows.empty());
  REQUIRE(read.observations.refused.size() == 20);
  CHECK(has(read.observations.refused.front().reason, "shorter than any kernel takes to start"));
  CHECK(
      has(read.observations.refused.back().reason, "12 of 20 times of this table are impossible"));
}

TEST_CASE("a fit that misses its own rows is said") {
  const Folder folder;
  const auto warnings = [&](double spread) {
    std::string text = "collective,gpus,message_bytes,time_s\n";
    unsigned state = 7;
    for (int power = 24; power <= 30; ++power)
      for (const int part : {2, 3}) {
        state = state * 1664525U + 1013904223U;  // Numerical Recipes' generator
        const double bytes = std::exp2(power) / 2 * part;
        text += fmt::format("all_reduce,16,{:.0f},{:.6e}\n", bytes,
                            bytes / 1e11 * std::exp(spread * (state / 2147483648.0 - 1)));
      }
    return fit_warnings(calibrate(read_measurements({folder.file("n.csv", text)}, "dgx-h100")));
  };
  CHECK(warnings(0.02).empty());
  const auto bad = warnings(2.5);
  REQUIRE(bad.size() == 1);
  INFO(bad[0]);
  CHECK(has(bad[0], "in the median at all_reduce from 16 MiB (1"));
}
