// SPDX-License-Identifier: Apache-2.0
// amsp report: one HTML file from what other commands wrote.
#include "base/file.hpp"
#include "base/terminal.hpp"
#include "cli/command.hpp"
#include "report/html_report.hpp"

namespace amsp {
namespace {

class ReportCommand : public Command {
 public:
  std::string_view name() const override { return "report"; }
  std::string_view description() const override {
    return "write one HTML page, readable offline, from the folders that other commands wrote";
  }
  std::string_view group() const override { return "Pages and this program"; }
  std::string_view example() const override {
    return "amsp report out plan.json calibration.json -o report.html";
  }
  void declare(Options& options) override {
    options.positionals("DIR", "what simulate, sweep, plan, reproduce or validate wrote with -o",
                        folders_);
    options.output_file("-o,--output", "FILE", "the page", output_);
    options.option("--title", "TEXT", "its title", title_);
  }
  int run() override {
    write_file(output_, html_report(title_, read_report_files({folders_.begin(), folders_.end()})));
    note("wrote " + output_);
    return 0;
  }

 private:
  std::vector<std::string> folders_;
  std::string output_ = "report.html";
  std::string title_ = "amsp report";
};

}  // namespace

std::unique_ptr<Command> command_report() { return std::make_unique<ReportCommand>(); }

}  // namespace amsp
