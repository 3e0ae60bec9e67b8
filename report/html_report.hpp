// SPDX-License-Identifier: Apache-2.0
// One self-contained HTML file, readable offline, of the results that other commands wrote
// (docs/formats/results.md, chrome-trace.md).
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace amsp {

// A JSON text and where it came from, e.g. {"out", "results.json", "{…}"}.
struct ReportFile {
  std::string folder;
  std::string name;
  std::string text;
};

// The results (report/result_kind.hpp) in the *.json files of the folders, sorted by name; a file
// is taken as it is. Throws InputError when one is missing, is not JSON, or holds no result.
std::vector<ReportFile> read_report_files(const std::vector<std::filesystem::path>& folders);

// Throws InputError when a text holds no result, or when Chart.js or the page's own files are
// missing (Debian package libjs-chart.js; $AMSP_CHARTJS names another copy).
std::string html_report(const std::string& title, const std::vector<ReportFile>& files);

}  // namespace amsp
