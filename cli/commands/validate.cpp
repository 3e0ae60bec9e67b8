// SPDX-License-Identifier: Apache-2.0
// amsp validate: predicted against executed on the machine at hand.
#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/units_text.hpp"
#include "cli/command.hpp"
#include "cli/html_flag.hpp"
#include "scenarios/validation/validation.hpp"

namespace amsp {
namespace {

class ValidateCommand : public Command {
 public:
  std::string_view name() const override { return "validate"; }
  std::string_view description() const override {
    return "measure this machine, predict training steps, execute them, compare";
  }
  std::string_view details() const override {
    return "Builds a cluster of network namespaces (needs root and iproute2), measures collectives "
           "on "
           "it, fits their times, and then predicts and executes training steps under many "
           "sharding "
           "strategies. With --require the exit status is 1 when an error is larger.";
  }
  void declare(Options& options) override {
    options.option("--testbed", "NxR", "nodes x ranks per node (default 2x4)", size_);
    options.option("--intra", "RATE", "a rank's link to its node (default 400mbit)", intra_);
    options.option("--inter", "RATE", "a node's uplink (default 100mbit)", inter_);
    options.repeated("--uplink", "NODE=RATE", "a node's uplink that is slower", uplinks_);
    options.flag("--quick", "few cases and sizes: under three minutes", quick_);
    options.integer("--repetitions", "K", "of each microbenchmark", repetitions_, 1, 1000);
    options.integer("--steps", "K", "measured steps of each schedule", steps_, 1, 1000);
    options.option("--require", "PERCENT",
                   "largest accepted error of a step time and of the median collective, e.g. 25%",
                   require_);
    options.choice("--format", "FORMAT", "table or json", format_, {"table", "json"});
    options.output_file("-o,--output", "FILE", "also write the JSON here", output_);
    options.option("--timeline", "FILE", "write both traces of each schedule as Chrome trace JSON",
                   timeline_);
    html_.declare(options);
  }

  int run() override {
    ValidationOptions options;
    parse_testbed_size(size_, options.shape);
    options.shape.intra = parse_bandwidth(intra_, {"command line", "--intra"});
    options.shape.inter = parse_bandwidth(inter_, {"command line", "--inter"});
    if (options.shape.inter > options.shape.intra)
      throw InputError(Place{"command line", "--inter"},
                       "an uplink faster than a rank's own link would not be the bottleneck; give "
                       "at most the rate of --intra");
    for (const std::string& uplink : uplinks_) parse_uplink(uplink, options.shape);
    options.quick = quick_;
    options.repetitions = static_cast<int>(repetitions_);
    options.steps = static_cast<int>(steps_);
    options.progress = [](std::string_view what) { fmt::print(stderr, "validate: {}\n", what); };
    const double bound = required();
    const ValidationReport report = validate_on_testbed(options);
    if (output_) write_file(*output_, to_json(report));
    if (timeline_) write_file(*timeline_, validation_timeline(report));
    html_.write("Predicted and measured", {{"", "validation.json", to_json(report)},
                                           {"", "timeline.json", validation_timeline(report)}});
    fmt::print("{}", format_ == "json" ? to_json(report) : to_table(report));
    if (bound <= 0) return 0;
    if (report.largest_step_error() > bound || report.median_collective_error() > bound)
      throw CheckFailed(fmt::format(
          "errors of {:.1f} % (step time) and {:.1f} % (collectives); "
          "accepted are {}",
          100 * report.largest_step_error(), 100 * report.median_collective_error(), *require_));
    return 0;
  }

 private:
  [[nodiscard]] double required() const {
    if (!require_) return 0;
    char* end = nullptr;
    const double percent = std::strtod(require_->c_str(), &end);
    if (std::string_view(end) != "%" || !(percent > 0))
      throw InputError(Place{"command line", "--require"},
                       fmt::format("\"{}\" is no percentage; write e.g. 25%", *require_));
    return percent / 100;
  }

  std::string size_ = "2x4", intra_ = "400mbit", inter_ = "100mbit", format_ = "table";
  std::vector<std::string> uplinks_;
  std::optional<std::string> require_, output_, timeline_;
  long long repetitions_ = 5, steps_ = 4;
  bool quick_ = false;
  HtmlFlag html_;
};

}  // namespace

std::unique_ptr<Command> command_validate() { return std::make_unique<ValidateCommand>(); }

}  // namespace amsp
