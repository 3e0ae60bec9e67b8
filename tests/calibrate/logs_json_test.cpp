// SPDX-License-Identifier: Apache-2.0
// The JSON of nccl-tests as scripts keep it: appended, in lists, inside other objects, or the
// results alone. Numbers are invented.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "calibrate/logs/json_documents.hpp"
#include "calibrate/logs/measurement.hpp"

using namespace amsp;

namespace {

std::string result(double mebibytes) {
  const double bytes = mebibytes * 1048576, time = bytes / 100e3;  // 100 GB/s
  return fmt::format(
      R"({{"size": {0:.0f}, "count": {1:.0f}, "type": "float", "redop": "sum", "root": "-1",)"
      R"( "out_of_place": {{"time": {2:.2f}, "alg_bw": 100.00, "bus_bw": 175.00, "nwrong": 0}},)"
      R"( "in_place": {{"time": {2:.2f}, "alg_bw": 100.00, "bus_bw": 175.00, "nwrong": 0}}}})",
      bytes, bytes / 4, time);
}

std::string object(const std::string& program) {
  std::string devices;
  for (int i = 0; i < 8; ++i)
    devices += fmt::format(R"({}{{"rank": {}, "group": 0, "hostname": "a", "device": {},)"
                           R"( "device_info": "GPU of mine"}})",
                           i == 0 ? "" : ", ", i, i);
  return fmt::format(R"({{"version": 3, "args": ["{}"], "nccl_version": 22304,)"
                     "\n"
                     R"("config": {{"nthreads": 1, "ngpus": 8, "devices": [{}]}},)"
                     "\n\"results\": [{},\n{}]}}",
                     program, devices, result(16), result(64));
}

void check(const MeasuredRun& run) {
  CHECK(run.format == "nccl-tests-json");
  CHECK(run.collective == CollectiveKind::all_reduce);
  CHECK(run.nranks == 8);
  REQUIRE(run.rows.size() == 2);
  CHECK(run.rows[0].bytes == Bytes(16777216));
  CHECK(run.rows[1].out_of_place.time->value() == Approx(67108864 / 100e9));
  CHECK(run.refused.empty());
}

}  // namespace

TEST_CASE("objects of nccl-tests one after another, in a list, in another object") {
  const std::string one = object("all_reduce_perf");
  for (const std::string& text :
       {one + "\n" + one + "\n", "[" + one + ",\n" + one + "]",
        "{\"host\": \"a\", \"tests\": {\"x\": " + one + ", \"y\": " + one + "}}"}) {
    CAPTURE(text);
    const auto runs = read_log_text(text, "a.json");
    REQUIRE(runs.size() == 2);
    for (const MeasuredRun& run : runs) {
      check(run);
      CHECK(run.gpu == "GPU of mine");
      CHECK(run.nccl_version == "2.23.4");
    }
    CHECK(runs[0].last_line < runs[1].rows[0].line + 1);
  }
  CHECK(read_log_text(one, "a.json").size() == 1);
}

TEST_CASE("results without their object: a list, or one a line") {
  for (const std::string& text :
       {"[" + result(16) + ", " + result(64) + "]", result(16) + "\n" + result(64) + "\n"}) {
    const auto runs = read_log_text(text, "a.json");
    REQUIRE(runs.size() == 1);
    check(runs[0]);
    CHECK(runs[0].notes.front().find("results without the object around them") == 0);
  }
}

TEST_CASE("of appended objects the last may be cut short") {
  const std::string one = object("all_reduce_perf");
  const auto runs = read_log_text(one + "\n" + one.substr(0, one.rfind("\"in_place\"")), "a.json");
  REQUIRE(runs.size() == 2);
  check(runs[0]);
  CHECK(runs[1].rows.size() == 1);
  CHECK(runs[1].notes.front().find("cut short") != std::string::npos);
}

TEST_CASE("documents of JSON end where their bracket closes") {
  const auto documents = json_documents("x {\"a\": \"}\\\"{\"} [1, {\"b\": []}]\n{\"c\": [");
  REQUIRE(documents.size() == 3);
  CHECK(documents[0].text == "{\"a\": \"}\\\"{\"}");
  CHECK(documents[1].text == "[1, {\"b\": []}]");
  CHECK(documents[1].whole);
  CHECK_FALSE(documents[2].whole);
}
