// SPDX-License-Identifier: Apache-2.0
// The page's text, and the page as a browser sees it: report/html/main.js exercises the page when
// its address ends in #selftest and leaves what it found in the DOM.
#include "report/html_report.hpp"

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/file.hpp"
#include "report/page_trace.hpp"

using namespace amsp;
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

const std::string kEvil = "</script><script>document.title='gone'</script>{{DATA}}";

// Two strategies at three scales; the second does not fit. Invented figures.
Json example_runs() {
  Json runs = Json::array();
  for (const int gpus : {8, 64, 512})
    for (const bool first : {true, false}) {
      const double tgs = (first ? 4000.0 : 3000.0) - gpus;
      runs.push_back({{"scenario", kEvil},
                      {"gpus", gpus},
                      {"micro_batches", 512 / gpus},
                      {"step_time_s", 1.25},
                      {"step_time_interval_s", {1.2, 1.3}},
                      {"tgs", tgs},
                      {"mfu", tgs / 6800},
                      {"peak_memory_bytes", 60e9},
                      {"memory_limit_bytes", 80e9},
                      {"memory_at_peak_bytes", {{"parameters", 14e9}, {"activations", 46e9}}},
                      {"fits", first},
                      {"exposed_communication_s", {{"total", 0.1}, {"all_reduce", 0.1}}},
                      {"strategy", {{"name", first ? "amsp" : "zero3"}, {"parameters", "1x1"}}},
                      {"reference", {{"tgs", 3900}, {"tgs_error", 0.01}}},
                      {"manifest", {{"program", "amsp"}}}});
    }
  return {{"format", "amsp-results-1"}, {"runs", runs}};
}

Json example_trace() {
  const auto name = [](int pid, int tid, const char* kind, const char* text) {
    return Json{
        {"ph", "M"}, {"pid", pid}, {"tid", tid}, {"name", kind}, {"args", {{"name", text}}}};
  };
  Json events{name(1, 0, "process_name", "rank 0"), name(1, 1, "thread_name", "compute"),
              name(1, 2, "thread_name", "communication")};
  for (int i = 0; i < 20; ++i) {
    events.push_back({{"ph", "X"},
                      {"pid", 1},
                      {"tid", 1},
                      {"ts", 100 * i},
                      {"dur", 80},
                      {"name", "layer " + std::to_string(i)},
                      {"cat", "compute"},
                      {"args", {{"phase", i < 10 ? "forward" : "backward"}, {"wait_us", 20}}}});
    events.push_back({{"ph", "C"},
                      {"pid", 1},
                      {"ts", 100 * i},
                      {"name", "memory"},
                      {"args", {{"bytes", 1e9 * (i + 1)}}}});
  }
  events.push_back({{"ph", "X"},
                    {"pid", 1},
                    {"tid", 2},
                    {"ts", 1500},
                    {"dur", 600},
                    {"name", "bucket 0"},
                    {"cat", "all_reduce"},
                    {"args",
                     {{"bytes", 1073741824},
                      {"busbw_GBps", 91.5},
                      {"wait_us", 7},
                      {"ranks", 8},
                      {"groups", 1}}}});
  return {
      {"traceEvents", events},
      {"otherData",
       {{"step_time_s", 0.0021},
        {"schedule", "example"},
        {"links", {{{"name", "nic"}, {"members", 2}, {"carried_bytes", 1e9}, {"busy", 0.4}}}}}}};
}

std::vector<ReportFile> example_files() {
  return {{"out", "results.json", example_runs().dump()},
          {"out", "trace.json", example_trace().dump()}};
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++found;
  return found;
}

std::string output_of(const std::string& command) {
  std::string text;
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  char buffer[65536];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    text.append(buffer, n);
  ::pclose(pipe);
  return text;
}

// What the page found out about itself; null without a browser.
Json self_test(const std::string& page) {
  if (std::system("command -v chromium >/dev/null 2>&1") != 0) {
    WARN("skipped: chromium is not installed (the page is only checked as text)");
    return nullptr;
  }
  std::string folder = (fs::temp_directory_path() / ("amsp-html-" + std::string(6, 'X'))).string();
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  write_file(folder + "/page.html", page);
  const std::string dom = output_of(
      "timeout 60 chromium --headless --no-sandbox --disable-gpu --no-first-run "
      "--disable-background-networking --disable-component-update --disable-sync "
      "--user-data-dir=" +
      folder +
      "/profile --virtual-time-budget=4000 --window-size=390,844 "
      "--dump-dom 'file://" +
      folder + "/page.html#selftest' 2>/dev/null");
  fs::remove_all(folder);
  const std::string mark = "data-selftest=\"";
  const std::size_t from = dom.find(mark);
  REQUIRE(from != std::string::npos);
  std::string text = dom.substr(from + mark.size());
  text.erase(text.find('"'));
  for (std::size_t at = 0; (at = text.find("&quot;")) != std::string::npos;)
    text.replace(at, 6, "\"");
  return Json::parse(text);
}

}  // namespace

TEST_CASE("the page is one file that loads nothing and cannot be broken by its data") {
  const std::string page = html_report("A & <b>", example_files());
  CHECK(count(page, "<title>A &amp; &lt;b&gt;</title>") == 1);
  CHECK(count(page, "</script>") == 3);  // data, Chart.js, ours
  for (const char* loads : {"<link", "src=\"", "@import", "fetch(", "url("})
    CHECK(page.find(loads) == std::string::npos);
  CHECK(page == html_report("A & <b>", example_files()));
}

TEST_CASE("what is no result is refused by name") {
  CHECK_THROWS_WITH(html_report("x", {{"out", "results.json", "{"}}),
                    Catch::Contains("out/results.json") && Catch::Contains("not JSON"));
  CHECK_THROWS_WITH(read_report_files({"/nonexistent"}),
                    Catch::Contains("is neither a folder nor a file"));
  setenv("AMSP_CHARTJS", "/nonexistent/chart.js", 1);
  CHECK_THROWS_WITH(html_report("x", {}), Catch::Contains("/nonexistent/chart.js"));
  unsetenv("AMSP_CHARTJS");
}

TEST_CASE("in a browser the page draws its charts, sorts, filters, zooms and answers to hover") {
  const Json found = self_test(html_report("Example", example_files()));
  if (found.is_null()) return;
  CHECK(found["problems"] == Json::array());
  for (const char* chart : {"tgs", "mfu", "communication", "memory", "memory-time-0", "links-0"}) {
    INFO(chart);
    CHECK(found["charts"][chart].get<int>() > 500);  // painted pixels
  }
  CHECK(found["timeline"].get<int>() > 500);
  CHECK(found["sorted"]["descending"] == Json({"3992", "3936", "3488", "2992", "2936", "2488"}));
  CHECK(found["sorted"]["ascending"] == Json({"2488", "2936", "2992", "3488", "3936", "3992"}));
  CHECK(found["sorted"]["aria"] == "descending");
  CHECK(found["filtered"] == 0);
  CHECK(found["zoom"] == 0.5);
  CHECK(found["hover"].get<std::string>().find("layer") == 0);
  CHECK(found["keyboard"].get<std::string>().find("compute: layer 0") == 0);
  CHECK(found["wide"] == 0);  // nothing wider than a phone
}

TEST_CASE("a page holds a trace's slices to the nanosecond, and of a long one at most 12,000") {
  const auto slices_of = [](const Json& trace) {
    return Json::parse(page_trace(trace.dump()))["lanes"][0]["slices"];
  };
  Json slices = slices_of(example_trace());
  REQUIRE(slices.size() == 20 * 7);
  double start = 0;  // from gap to gap
  for (std::size_t i = 0; i < 20; ++i) {
    start += slices[7 * i].get<double>();
    CHECK(start == 100e3 * static_cast<double>(i));
    CHECK(slices[7 * i + 1] == 80000);
    CHECK(slices[7 * i + 4] == 20);
    start += 80e3;
  }
  Json longer{{"traceEvents", Json::array()}};
  for (int i = 0; i < 30000; ++i)
    longer["traceEvents"].push_back({{"ph", "X"}, {"ts", 2 * i}, {"dur", 1}, {"cat", "compute"}});
  slices = slices_of(longer);
  CHECK(slices.size() <= 12000 * 7);
  double end = 0;
  for (std::size_t i = 0; i < slices.size(); i += 7)
    end += slices[i].get<double>() + slices[i + 1].get<double>();
  CHECK(end == 1e3 * (2 * 29999 + 1));
}

TEST_CASE("a plan's page names the choice, its interval and its cost") {
  Json run = example_runs()["runs"][0];
  for (const char* key : {"scenario", "gpus", "strategy", "reference", "manifest", "fits"})
    run.erase(key);
  run.update({{"parameters", "4x1"}, {"gradients", "4x2"}, {"optimizer", "8x2"}});
  run.update({{"micro_batch", 2}, {"recompute", "none"}, {"overlap_broadcast", true}});
  const Json plan{{"format", "amsp-plan-1"},
                  {"model", "m"},
                  {"cluster", "c"},
                  {"gpus", 64},
                  {"tokens", 3e9},
                  {"price_per_gpu_hour", 2.5},
                  {"candidates", 9},
                  {"too_large", 1},
                  {"pruned", 2},
                  {"simulated", 6},
                  {"best", {run}}};
  const Json found = self_test(html_report("Plan", {{"", "plan.json", plan.dump()}}));
  if (found.is_null()) return;
  CHECK(found["problems"] == Json::array());
  const auto answer = found["answer"].get<std::string>();
  INFO(answer);
  // 3e9 tokens / 3992 TGS / 3600 s = 208.8 GPU hours, 521.9 at 2.5 each.
  for (const char* said : {"m on 64 GPUs of c", "P 4x1, G 4x2, OS 8x2",
                           "90 % interval 3838 to 4158", "208.8", "521.9", "58.7 %"})
    CHECK(answer.find(said) != std::string::npos);
}

TEST_CASE("pages of a calibration and of a validation draw what was measured beside the model") {
  Json rows = Json::array();
  for (int power = 10; power < 20; ++power)
    rows.push_back({{"ranks", 8},
                    {"bytes", std::to_string(1 << power) + "B"},
                    {"time", std::to_string(power) + "e-6s"},
                    {"predicted", std::to_string(power) + ".5e-6s"},
                    {"interval_factor", 1.1},
                    {"trust", 1}});
  const Json calibration{{"format", "amsp-calibration-1"},
                         {"collectives", {{"kinds", {{"all_reduce", {{"rows", rows}}}}}}}};
  const Json validation{
      {"schedules", {{{"name", "DDP"}, {"predicted_s", 0.95}, {"measured_s", 1.0}}}},
      {"collectives", {{{"name", "all_reduce"}, {"predicted_s", 0.02}, {"measured_s", 0.019}}}}};
  const Json found = self_test(
      html_report("Both", {{"", "c.json", calibration.dump()}, {"", "v.json", validation.dump()}}));
  if (found.is_null()) return;
  CHECK(found["problems"] == Json::array());
  for (const char* chart : {"calibration-0", "residuals-0", "validation"})
    CHECK(found["charts"][chart].get<int>() > 500);
  const auto answer = found["answer"].get<std::string>();
  INFO(answer);
  CHECK(answer.find("1 step was predicted within 5.0 %") != std::string::npos);
  CHECK(answer.find("A fit to 10 measurements") != std::string::npos);
  CHECK(found["wide"] == 0);
}

TEST_CASE("a file that holds no result is refused; in a folder it is left out") {
  for (const char* text : {"{\"what\": [1]}", "[]", "{\"runs\": []}", "{\"runs\": 3}", "{}", "7"}) {
    INFO(text);
    CHECK_THROWS_WITH(html_report("x", {{"out", "x.json", text}}),
                      Catch::Contains("out/x.json: holds no result; accepted: results.json"));
  }
  std::string folder = (fs::temp_directory_path() / ("amsp-html-" + std::string(6, 'X'))).string();
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  write_file(folder + "/cluster.json", "{\"node\": {}}");
  CHECK_THROWS_WITH(read_report_files({folder}), Catch::Contains(folder + ": holds no result"));
  CHECK_THROWS_WITH(read_report_files({folder + "/cluster.json"}),
                    Catch::Contains("cluster.json: holds no result; accepted: results.json"));
  write_file(folder + "/scenario.json", "// a comment\n{\"model\": \"llama-7b\"}");
  CHECK_THROWS_WITH(read_report_files({folder + "/scenario.json"}), Catch::Contains("not JSON"));
  write_file(folder + "/results.json", example_runs().dump());
  CHECK(read_report_files({folder}).size() == 1);
  fs::remove_all(folder);
}
