// SPDX-License-Identifier: Apache-2.0
// Traces against the trace-event format (Google's "Trace Event Format" document): times ascend,
// durations are not negative, arrows come in pairs inside slices, counters are numbers.
#include "report/chrome_trace.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "report/run_trace.hpp"

using namespace amsp;
using Json = nlohmann::json;

namespace {

// A layer's computation, and a gradient all-reduce that waits for it and that the next step waits
// for; two ranks that do the same.
Schedule small_schedule() {
  return parse_schedule(JsonValue::parse_text(R"({
    "name": "small", "world": 2,
    "streams": [{"name": "compute", "compute": true}, {"name": "reduce", "compute": false}],
    "communicators": [{"name": "all", "axes": [{"size": 2, "member": true}]}],
    "persistent": [{"component": "parameters", "bytes": "1000B"}],
    "blocks": [{"name": "step", "repeat": 1, "ops": [
      {"name": "layer", "phase": "forward", "layer": 0, "stream": "compute", "after": ["sum"],
       "kernels": [{"kind": "gemm", "m": 1000, "n": 1000, "k": 500, "dtype": "bf16"}]},
      {"name": "sum", "phase": "backward", "stream": "reduce", "after": ["layer"],
       "collective": {"kind": "all_reduce", "communicator": "all", "bytes": "3000000B",
                      "dtype": "bf16", "root": 0}}]}]})",
                                              "small"));
}

// The second of two steps: 1 ms computation, then 3 ms all-reduce that it had to wait 1 ms for.
ReplayResult small_result() {
  ReplayResult result;
  const auto ms = [](double value) { return milliseconds(value); };
  result.step_time = ms(5);
  result.period_start = ms(5);
  for (const int step : {0, 1}) {
    const double begin = 5.0 * step;
    OpRecord layer{OpId(0), Rank(0), step, 0, 0, ms(begin), ms(begin), ms(begin + 1)};
    OpRecord sum{OpId(1), Rank(0), step, 0, 0, ms(begin + 1), ms(begin + 2), ms(begin + 5)};
    result.records.push_back(layer);
    result.records.push_back(sum);
  }
  result.rank_classes = {{Rank(0), 2}};
  result.class_of_rank = {0, 0};
  result.links = {{LinkId(3), 2, Bytes(3e6), Bytes(), 0.6}};
  return result;
}

std::vector<Json> events_of(const Json& trace, const std::string& phase) {
  std::vector<Json> found;
  for (const Json& event : trace["traceEvents"])
    if (event["ph"] == phase) found.push_back(event);
  return found;
}

std::pair<int, int> thread_of(const Json& event) {
  return {event["pid"].get<int>(), event["tid"].get<int>()};
}

// Throws (fails the test) where the trace breaks the format.
void check_format(const Json& trace) {
  double last = -1e300;
  std::map<int, Json> open;
  std::set<std::pair<int, int>> named;
  std::map<std::pair<int, int>, double> busy_until;  // slices of a thread follow each other
  for (const Json& event : trace["traceEvents"]) {
    const std::string phase = event["ph"];
    if (phase == "M") {
      CHECK(last == -1e300);  // names come first
      if (event["name"] == "thread_name") named.insert(thread_of(event));
      continue;
    }
    const double time = event["ts"];
    REQUIRE(time >= last);
    last = time;
    if (phase == "X") {
      REQUIRE(event["dur"].get<double>() >= 0);
      REQUIRE(named.count(thread_of(event)) == 1);
      REQUIRE(event["name"].is_string());
      const auto [until, added] = busy_until.emplace(thread_of(event), time);
      REQUIRE(time >= until->second - 1e-6);  // half of the last digit, twice
      until->second = time + event["dur"].get<double>();
    }
    if (phase == "s") REQUIRE(open.emplace(event["id"].get<int>(), event).second);
    if (phase == "f") {
      REQUIRE(open.count(event["id"].get<int>()) == 1);
      REQUIRE(event["bp"] == "e");
      open.erase(event["id"].get<int>());
    }
    if (phase == "C")
      for (const auto& [name, value] : event["args"].items()) REQUIRE(value.get<double>() >= 0);
  }
  CHECK(open.empty());
}

}  // namespace

TEST_CASE("a step that can be checked by hand") {
  const Schedule schedule = small_schedule();
  const ReplayResult result = small_result();
  const MemoryTimeline memory{
      Rank(0), Bytes(1000), Seconds(0), {}, {{milliseconds(5), Bytes(1000)}}};
  const std::vector<LinkSpan> links{
      {LinkId(3), OpId(1), milliseconds(7), milliseconds(10), Bytes(3e6)}};
  const std::string text = chrome_trace({schedule, result, memory, nullptr, {}, links});
  const Json trace = Json::parse(text);
  check_format(trace);
  CHECK(trace["otherData"]["step_time_s"] == 0.005);

  const auto slices = events_of(trace, "X");
  REQUIRE(slices.size() == 3);  // two ops of the reported step, one span of a link
  CHECK(slices[0]["name"] == "layer");
  CHECK(slices[0]["ts"] == 0);
  CHECK(slices[0]["dur"] == 1000);
  CHECK(slices[0]["args"]["flops"] == 1e9);
  CHECK(slices[0]["args"]["tflops_per_s"] == 1);
  CHECK(slices[1]["name"] == "sum");
  CHECK(slices[1]["ts"] == 2000);
  CHECK(slices[1]["dur"] == 3000);
  CHECK(slices[1]["cat"] == "all_reduce");
  CHECK(slices[1]["args"]["wait_us"] == 1000);
  CHECK(slices[1]["args"]["algbw_GBps"] == 1);
  CHECK(slices[1]["args"]["busbw_GBps"] == 1);  // 2(n-1)/n = 1 for two ranks
  CHECK(slices[2]["args"]["GBps"] == 1);

  // The arrow from the layer to the sum; the one into the layer comes from the step before.
  const auto starts = events_of(trace, "s"), ends = events_of(trace, "f");
  REQUIRE(starts.size() == 1);
  REQUIRE(ends.size() == 1);
  CHECK(starts[0]["ts"].get<double>() == Approx(999.999));
  CHECK(ends[0]["ts"] == 2000);

  // The link's load rises to 1 GB/s and falls to nothing.
  std::vector<double> loads;
  for (const Json& counter : events_of(trace, "C"))
    if (counter["args"].contains("GBps")) loads.push_back(counter["args"]["GBps"].get<double>());
  CHECK(loads == std::vector<double>{1, 0});
  CHECK(text == chrome_trace({schedule, result, memory, nullptr, {}, links}));
}

TEST_CASE("repetitions that were not replayed are one slice") {
  const Schedule schedule = small_schedule();
  ReplayResult result = small_result();
  result.skipped = {{1, 0, 1, 9, milliseconds(5), milliseconds(0.5)}};
  const Json trace = Json::parse(chrome_trace({schedule, result, {}, nullptr, {}, {}}));
  check_format(trace);
  const auto slices = events_of(trace, "X");
  REQUIRE(slices.size() == 3);
  CHECK(slices[1]["name"] == "9 more times step, alike");
  CHECK(slices[1]["ts"] == 500);
  CHECK(slices[1]["dur"] == 4500);
}

TEST_CASE(
    "the trace of a shipped scenario keeps the format, and its links carry what was counted") {
  const Scenario scenario = load_scenario("paper-7b-amsp", {"training.global_batch=64"});
  const RunResult run = run_scenario(scenario, 32, {});
  const Json trace = Json::parse(run_trace(scenario, run));
  check_format(trace);
  CHECK(events_of(trace, "X").size() > 100);
  CHECK(events_of(trace, "s").size() > 10);
  std::map<std::string, double> carried;
  std::map<int, std::string> lane;
  for (const Json& event : events_of(trace, "M"))
    if (event["name"] == "thread_name")
      lane[event["tid"].get<int>()] = event["args"]["name"].get<std::string>();
  for (const Json& event : events_of(trace, "X"))
    if (event["cat"] == "link") {
      std::string name = lane[event["tid"].get<int>()];
      carried[name.substr(0, name.find(" ("))] += event["args"]["bytes"].get<double>();
    }
  REQUIRE_FALSE(carried.empty());
  if (!run.replay.skipped.empty()) return;  // then the trace holds a part of the step only
  for (const Json& link : trace["otherData"]["links"]) {
    INFO(link["name"].get<std::string>());
    CHECK(carried[link["name"].get<std::string>()] == Approx(link["carried_bytes"].get<double>()));
  }
}
