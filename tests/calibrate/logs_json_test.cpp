// SPDX-License-Identifier: Apache-2.0
// The JSON of nccl-tests as scripts keep it: appended, in lists, inside other objects, or the
// results alone. Numbers are invented.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "base/error.hpp"
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

TEST_CASE("a document that never closes ends where the next begins alike") {
  const auto documents =
      json_documents("{\"a\": [{\"b\": 1},\n{\"b\": \"x\n{\"a\": [\n{\"b\": 2}]}\n{\"a\": {");
  REQUIRE(documents.size() == 3);
  CHECK(documents[0].text == "{\"a\": [{\"b\": 1},\n{\"b\": \"x\n");
  CHECK_FALSE(documents[0].whole);
  CHECK(documents[1].text == "{\"a\": [\n{\"b\": 2}]}");
  CHECK(documents[1].whole);
  CHECK(documents[2].text == "{\"a\": {");
  // Lines of one whole document may begin alike.
  CHECK(json_documents("{\n\"a\": [\n{\n\"a\": 1}]}").size() == 1);
}

TEST_CASE("a document that is cut short is closed after its last whole object of a list") {
  CHECK(closed_document("[{\"a\": [{\"b\": \"]}\"}, {\"b\": 2}, {\"b\": {}, ") ==
        "[{\"a\": [{\"b\": \"]}\"}, {\"b\": 2}]}]");
  CHECK(closed_document("{\"a\": [1, 2").empty());
  CHECK(closed_document("{\"a\": [{\"b\": 2}], \"c\": ") == "{\"a\": [{\"b\": 2}]}");
}

TEST_CASE("of appended objects any may be cut short, wherever it was cut") {
  const std::string one = object("all_reduce_perf");
  for (std::size_t end = one.rfind("\"size\": 6"); end + 1 < one.size(); end += 7) {
    CAPTURE(end);
    const auto runs = read_log_text(one.substr(0, end) + "\n" + one + "\n" + one, "a.json");
    REQUIRE(runs.size() == 3);
    CHECK(runs[0].rows.size() == (end + 2 < one.size() ? 1 : 2));
    CHECK(runs[0].notes.front().find("cut short") != std::string::npos);
    check(runs[1]);
    check(runs[2]);
    CHECK(runs[1].rows[0].line > runs[0].rows.back().line);
    CHECK(runs[2].rows[1].line == runs[1].rows[1].line + 4);
  }
}

TEST_CASE("a list that is cut short is read up to its last complete result") {
  const std::string one = object("all_reduce_perf");
  const std::string text = "[" + one + ",\n" + one;
  const auto runs = read_log_text(text.substr(0, text.rfind("\"in_place\"")), "a.json");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].rows.size() == 2);
  CHECK(runs[1].rows.size() == 1);
  CHECK(runs[1].notes.front().find("cut short") != std::string::npos);
  const std::string loose = "[" + result(16) + ", " + result(64) + ", {\"size\": 1, ";
  REQUIRE(read_log_text(loose, "a.json").size() == 1);
  check(read_log_text(loose, "a.json")[0]);
}

TEST_CASE("a broken document among others is refused by its line, alone it is an error") {
  const std::string one = object("all_reduce_perf");
  std::string broken = one;
  broken.replace(broken.find("\"ngpus\": 8"), 10, "\"ngpus\" 8,");
  const auto runs = read_log_text(one + "\n" + broken + "\n" + one, "a.json");
  REQUIRE(runs.size() == 2);
  check(runs[0]);
  CHECK(runs[1].rows.size() == 2);
  CHECK(runs[1].rows[0].line == 11);
  REQUIRE(runs[1].refused.size() == 1);
  CHECK(runs[1].refused[0].line == 5);
  CHECK(runs[1].refused[0].reason.find("document from line 5 is no JSON") == 0);
  CHECK(runs[1].refused[0].reason.find("at line 2") != std::string::npos);
  for (const std::string& text : {broken, broken + "\n" + broken})
    CHECK_THROWS_WITH(read_log_text(text, "a.json"), Catch::Contains("not JSON: "));
}
