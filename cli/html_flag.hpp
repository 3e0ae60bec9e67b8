// SPDX-License-Identifier: Apache-2.0
// --html FILE of the commands that have something to look at.
#pragma once
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "report/html_report.hpp"

namespace amsp {

class HtmlFlag {
 public:
  void declare(Options& options);
  [[nodiscard]] bool wanted() const { return !file_.empty(); }
  // Writes the page if it is wanted.
  void write(const std::string& title, const std::vector<ReportFile>& files) const;

 private:
  std::string file_;
};

}  // namespace amsp
