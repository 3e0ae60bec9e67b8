// SPDX-License-Identifier: Apache-2.0
// amsp calibrate: from measurement logs to a calibration; --parse-only shows what was read.
#include <cstdio>

#include "base/error.hpp"
#include "calibrate/logs/measurement.hpp"
#include "calibrate/logs/write_runs.hpp"
#include "cli/command.hpp"

namespace amsp {
namespace {

class CalibrateCommand : public Command {
 public:
  std::string_view name() const override { return "calibrate"; }
  std::string_view description() const override {
    return "read nccl-tests logs and other measurements";
  }
  std::string_view details() const override {
    return "Accepted logs: text and JSON of nccl-tests and rccl-tests of any age (with launcher "
           "prefixes, INFO lines, quotes), mscclpp-test, CSV, TSV and Markdown tables; see "
           "docs/formats/logs.md. Sizes are of the whole buffer.";
  }
  void declare(Options& options) override {
    options.positionals("LOG", "measurement logs", logs_);
    options.flag("--parse-only", "print what was read and stop", parse_only_);
    options.choice("--format", "FORMAT", "table, csv or json", format_, {"table", "csv", "json"});
  }
  int run() override {
    if (!parse_only_) throw InputError("calibrate can only read logs so far; add --parse-only");
    return print_runs();
  }

 private:
  // Every file is read before anything is printed; a file without a measurement is an error, but
  // the others are still shown.
  int print_runs() {
    std::vector<MeasuredRun> runs;
    std::vector<std::string> errors;
    for (const std::string& log : logs_) try {
        for (MeasuredRun& run : read_logs(log)) runs.push_back(std::move(run));
      } catch (const InputError& error) {
        errors.emplace_back(error.what());
      }
    const std::string text = format_ == "json"  ? runs_to_json(runs)
                             : format_ == "csv" ? runs_to_csv(runs)
                                                : runs_to_table(runs);
    std::fwrite(text.data(), 1, text.size(), stdout);
    for (const std::string& error : errors) std::fprintf(stderr, "amsp: %s\n", error.c_str());
    return errors.empty() ? 0 : 2;
  }

  std::vector<std::string> logs_;
  bool parse_only_ = false;
  std::string format_ = "table";
};

}  // namespace

std::unique_ptr<Command> command_calibrate() { return std::make_unique<CalibrateCommand>(); }

}  // namespace amsp
