// SPDX-License-Identifier: Apache-2.0
// amsp calibrate: from measurement logs to a calibration; --parse-only shows what was read,
// --cross-validate how well the fit predicts what it has not seen.
#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <set>

#include "base/counted.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/progress.hpp"
#include "base/terminal.hpp"
#include "calibrate/calibrate_files.hpp"
#include "calibrate/cross_validation.hpp"
#include "calibrate/fit_report.hpp"
#include "calibrate/logs/measurement.hpp"
#include "calibrate/logs/write_runs.hpp"
#include "calibrate/validation_report.hpp"
#include "calibrate/wrong_runs.hpp"
#include "cli/command.hpp"

namespace amsp {
namespace {

class CalibrateCommand : public Command {
 public:
  std::string_view name() const override { return "calibrate"; }
  std::string_view description() const override {
    return "fit collective and kernel times to measurement logs";
  }
  std::string_view group() const override { return "Inputs"; }
  std::string_view example() const override {
    return "amsp calibrate all_reduce.log all_gather.log --cluster cluster.json -o "
           "calibration.json";
  }
  std::string_view details() const override {
    return "Accepted logs: text and JSON of nccl-tests and rccl-tests of any age (with launcher "
           "prefixes, INFO lines, quotes), mscclpp-test, CSV, TSV and Markdown tables; see "
           "docs/formats/logs.md. Tables of kernel times: docs/formats/kernels-csv.md. Sizes are "
           "of the whole buffer. All logs of one calibration come from one cluster.";
  }
  void declare(Options& options) override {
    options.positionals("LOG", "measurement logs", logs_);
    options.output_file("-o,--output", "FILE", "write the calibration here (default: report only)",
                        output_);
    options.option("--cluster", "CLUSTER", "cluster of the logs: name or path (default: as logged)",
                   cluster_);
    options.flag("--cross-validate", "predict what was left out: sizes, scales, larger scales",
                 cross_validate_);
    options.flag("--residuals",
                 "print the residual of every row (with --cross-validate: of those left out)",
                 residuals_);
    options.flag("--parse-only", "print what was read and stop", parse_only_);
    options.choice("--format", "FORMAT", "of --parse-only: table (default), csv or json", format_,
                   {"table", "csv", "json"});
  }
  int run() override {
    refuse_unused();
    if (parse_only_) return print_runs();
    const Measurements measurements = read_measurements(logs_, cluster_);
    for (const std::string& warning : measurements.warnings) remark("warning: " + warning + "\n");
    if (cross_validate_) return print_validation(measurements);
    const Calibration calibration = fit(measurements);
    for (const std::string& warning : fit_warnings(calibration))
      remark("warning: " + warning + "\n");
    const std::string report = fit_report(calibration, residuals_);
    std::fwrite(report.data(), 1, report.size(), stdout);
    if (!output_.empty()) {
      write_file(output_, to_json(calibration));
      note("wrote " + output_);
    }
    return 0;
  }

 private:
  // Options that the question asked would not use.
  void refuse_unused() const {
    const auto refuse = [](bool given, const char* option, const char* why) {
      if (given) throw InputError(Place{"command line", option}, why);
    };
    if (parse_only_) {
      const char* const why = "has no use with --parse-only, which fits nothing";
      refuse(cross_validate_, "--cross-validate", why);
      refuse(residuals_, "--residuals", why);
      refuse(!cluster_.empty(), "--cluster", why);
      refuse(!output_.empty(), "--output", "has no use with --parse-only, which prints to stdout");
    } else {
      refuse(!format_.empty(), "--format",
             "is of --parse-only: the report of a fit is text, the calibration JSON (-o)");
    }
    refuse(cross_validate_ && !output_.empty(), "--output",
           "has no use with --cross-validate, which makes no calibration");
  }

  // Parts of the fit as steps of a bar: what the kinds share, then each kind.
  static Calibration fit(const Measurements& measurements) {
    std::set<CollectiveKind> kinds;
    for (const Observation& row : measurements.observations.rows) kinds.insert(row.kind);
    Progress progress("calibrate", static_cast<std::int64_t>(kinds.size()) + 1);
    bool begun = false;
    return calibrate(measurements, [&](std::string_view part) {
      if (begun) progress.advance();
      begun = true;
      progress.phase(part);
    });
  }

  // Every file is read before anything is printed; a file without a measurement is an error, but
  // the others are still shown.
  int print_runs() {
    std::vector<MeasuredRun> runs;
    std::vector<std::string> errors;
    for (const std::string& log : logs_) try {
        for (MeasuredRun& run : read_logs(log)) {
          if (const auto wrong = wrong_as_a_whole(run))
            remark(fmt::format("warning: {}: lines {} to {}: {}; calibrate uses nothing of it\n",
                               run.file, run.first_line, run.last_line, *wrong));
          runs.push_back(std::move(run));
        }
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

  int print_validation(const Measurements& measurements) const {
    const auto& rows = measurements.observations.rows;
    if (rows.empty()) throw InputError("nothing to validate: the files hold no collective times");
    if (!measurements.kernels.empty())
      note(
          fmt::format("{} of kernels are not used: --cross-validate is of collectives; the report "
                      "without it leaves out kernel times in turn",
                      counted(measurements.kernels.size(), "time")));
    std::optional<Progress> progress;
    const auto held_out =
        cross_validate(rows, measurements.cluster,
                       {LeftOut::size, LeftOut::scale, LeftOut::scales_above, LeftOut::kind},
                       [&](std::size_t done, std::size_t fits) {
                         if (!progress)
                           progress.emplace("cross-validate", static_cast<std::int64_t>(fits));
                         if (done > 0) progress->advance();
                       });
    progress.reset();
    const std::string text = validation_report(held_out, rows, residuals_);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
  }

  std::vector<std::string> logs_;
  std::string output_;
  std::string cluster_;
  bool cross_validate_ = false;
  bool residuals_ = false;
  bool parse_only_ = false;
  std::string format_;  // empty: not given
};

}  // namespace

std::unique_ptr<Command> command_calibrate() { return std::make_unique<CalibrateCommand>(); }

}  // namespace amsp
