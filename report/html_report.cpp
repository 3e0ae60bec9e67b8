// SPDX-License-Identifier: Apache-2.0
#include "report/html_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/terminal.hpp"
#include "report/page_trace.hpp"
#include "report/result_kind.hpp"

namespace amsp {
namespace fs = std::filesystem;
namespace {

// Where Debian's packages libjs-chart.js and node-chart.js put it.
constexpr std::array kChartFiles{"/usr/share/javascript/chart.js/chart.min.js",
                                 "/usr/share/nodejs/chart.js/dist/chart.min.js",
                                 "/usr/share/nodejs/chart.js/dist/chart.js"};
// In the order in which the page runs them.
constexpr std::array kScripts{"data.js",     "trace.js",          "table.js",
                              "charts.js",   "timeline.js",       "timeline_input.js",
                              "sections.js", "trace_sections.js", "main.js"};

std::string page_file(std::string_view name) {
  return read_file(data_folder("report/html") / name);
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

std::string chart_library() {
  if (const char* set = std::getenv("AMSP_CHARTJS"); set != nullptr && *set != '\0')
    return read_file(set);
  for (const char* file : kChartFiles)
    if (fs::exists(file)) return read_file(file);
  throw InputError(
      "Chart.js is not installed, which draws the report's figures: install the Debian package "
      "libjs-chart.js, or set AMSP_CHARTJS to a copy of chart.min.js (version 3)");
}

// Text that may stand inside a <script> element: no closing tag, no comment, can end it early.
std::string script_safe(std::string text) {
  replace_all(text, "</", "<\\/");
  replace_all(text, "<!--", "<\\!--");
  return text;
}

std::string html_text(std::string text) {
  replace_all(text, "&", "&amp;");
  replace_all(text, "<", "&lt;");
  replace_all(text, ">", "&gt;");
  return text;
}

InputError no_result(const std::string& path) {
  return InputError({path, ""}, "holds no result; accepted: " + std::string(kReportable));
}

ReportFile read_result(const fs::path& file) {
  std::string text = read_file(file);
  if (result_kind(text, file.string()).empty()) throw no_result(file.string());
  return {file.parent_path().filename().string(), file.filename().string(), std::move(text)};
}

std::string embedded(const std::vector<ReportFile>& files) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ReportFile& file : files) {
    const std::string path = (fs::path(file.folder) / file.name).generic_string();
    const std::string_view kind = result_kind(file.text, path);
    if (kind.empty()) throw no_result(path);
    list.push_back({{"path", path},
                    {"folder", file.folder},
                    {"sha256", sha256(file.text)},
                    {"content", nlohmann::ordered_json::parse(
                                    kind == "trace" ? page_trace(file.text) : file.text)}});
  }
  // In JSON every "<" lies inside a string, so it can be written as an escape.
  std::string text = nlohmann::ordered_json{{"files", std::move(list)}}.dump(
      -1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  replace_all(text, "<", "\\u003c");
  return text;
}

}  // namespace

std::vector<ReportFile> read_report_files(const std::vector<fs::path>& folders) {
  std::vector<ReportFile> files;
  for (const fs::path& folder : folders) {
    if (fs::is_regular_file(folder)) {
      files.push_back(read_result(folder));
      continue;
    }
    if (!fs::is_directory(folder))
      throw InputError({folder.string(), ""},
                       "is neither a folder nor a file; give what simulate, sweep, plan, reproduce "
                       "or validate wrote with -o");
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.is_regular_file() && entry.path().extension() == ".json")
        found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    const std::size_t before = files.size();
    // What lies beside the results, such as a scenario with comments, is no mistake.
    for (const fs::path& file : found) try {
        files.push_back(read_result(file));
      } catch (const InputError& error) {
        note("left out " + std::string(error.what()));
      }
    if (files.size() == before)
      throw InputError({folder.string(), ""},
                       "holds no result in a *.json file; accepted: " + std::string(kReportable));
  }
  return files;
}

std::string html_report(const std::string& title, const std::vector<ReportFile>& files) {
  std::string script;
  for (const char* name : kScripts) {
    std::string text = page_file(name);
    replace_all(text, "'use strict';\n", "");
    script += text + "\n";
  }
  std::string page = page_file("page.html");
  const std::string program = "amsp " AMSP_VERSION;
  // One pass from left to right, so that nothing inserted is searched again.
  const std::array<std::pair<std::string_view, std::string>, 6> parts{
      {{"{{TITLE}}", html_text(title)},
       {"{{STYLE}}", page_file("style.css")},
       {"{{PROGRAM}}", program},
       {"{{DATA}}", embedded(files)},
       {"{{CHARTJS}}", script_safe(chart_library())},
       {"{{SCRIPT}}", "'use strict';\n" + script_safe(script)}}};
  std::string result;
  std::size_t from = 0;
  for (std::size_t at = 0; (at = page.find("{{", from)) != std::string::npos;) {
    const auto part = std::find_if(parts.begin(), parts.end(), [&](const auto& candidate) {
      return page.compare(at, candidate.first.size(), candidate.first) == 0;
    });
    const std::size_t end = part == parts.end() ? at + 2 : at + part->first.size();
    result.append(page, from, at - from);
    result += part == parts.end() ? "{{" : part->second;
    from = end;
  }
  return result + page.substr(from);
}

}  // namespace amsp
