// SPDX-License-Identifier: Apache-2.0
// amsp reproduce: the paper's curves and tables beside the predictions.
#include <cstdio>

#include "base/error.hpp"
#include "base/terminal.hpp"
#include "cli/command.hpp"
#include "cli/html_flag.hpp"
#include "cli/replay_options.hpp"
#include "report/reproduction_report.hpp"
#include "scenarios/parallel.hpp"

namespace amsp {
namespace {

class ReproduceCommand : public Command {
 public:
  std::string_view name() const override { return "reproduce"; }
  std::string_view description() const override {
    return "predict the AMSP paper's results and compare with them";
  }
  std::string_view group() const override { return "Questions"; }
  std::string_view example() const override {
    return "amsp reproduce -o reproduction --html reproduction.html";
  }
  std::string_view details() const override {
    return "One factor on the speed of all kernels is taken from one of these results (13B on 8 "
           "GPUs,\n"
           "Fig. 12), which is not counted; --no-fit takes none. --check exits with 1 when an "
           "error\n"
           "leaves the band that docs/reproduction.md states.";
  }
  void declare(Options& options) override {
    options.flag("--check", "exit 1 when an error leaves its stated band", check_);
    options.flag("--no-fit", "take no compute efficiency from a published point", no_fit_);
    options.choice("--format", "FORMAT", "table, json or csv", format_, {"table", "json", "csv"});
    options.output_folder("-o,--output", "DIR",
                          "also write reproduction.json, reproduction.csv and a figure per model",
                          directory_);
    options.integer("-j,--jobs", "N", "threads", jobs_, 1, 1024);
    html_.declare(options);
    replay_.declare(options);
  }
  int run() override {
    const Reproduction reproduction =
        reproduce(replay_.options(), static_cast<int>(jobs_), !no_fit_);
    const std::string text = format_ == "json"  ? reproduction_json(reproduction)
                             : format_ == "csv" ? reproduction_csv(reproduction)
                                                : reproduction_table(reproduction);
    std::fputs(text.c_str(), stdout);
    if (!directory_.empty()) {
      write_reproduction(reproduction, directory_);
      note("wrote " + directory_);
    }
    html_.write("The AMSP paper, reproduced",
                {{"", "reproduction.json", reproduction_json(reproduction)}});
    if (!check_) return 0;
    std::string failed;
    for (const ReproducedBand& band : reproduction.bands)
      if (!band.holds()) failed += (failed.empty() ? "" : "; ") + band.name;
    if (!failed.empty()) throw CheckFailed("outside the stated band: " + failed);
    return 0;
  }

 private:
  bool check_ = false, no_fit_ = false;
  std::string format_ = "table", directory_;
  long long jobs_ = default_threads();
  HtmlFlag html_;
  ReplayFlags replay_;
};

}  // namespace

std::unique_ptr<Command> command_reproduce() { return std::make_unique<ReproduceCommand>(); }

}  // namespace amsp
