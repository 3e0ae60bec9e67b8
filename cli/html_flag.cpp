// SPDX-License-Identifier: Apache-2.0
#include "cli/html_flag.hpp"

#include "base/file.hpp"
#include "base/terminal.hpp"

namespace amsp {

void HtmlFlag::declare(Options& options) {
  options.output_file("--html", "FILE", "also write a page to look at, readable offline", file_);
}

void HtmlFlag::write(const std::string& title, const std::vector<ReportFile>& files) const {
  if (!wanted()) return;
  write_file(file_, html_report(title, files));
  note("wrote " + file_);
}

}  // namespace amsp
