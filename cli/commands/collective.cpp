// SPDX-License-Identifier: Apache-2.0
// amsp collective: how long one collective takes, and where the time goes; or, given logs, what
// was measured beside what the model says.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>

#include "base/counted.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/terminal.hpp"
#include "base/units_text.hpp"
#include "calibrate/calibrate_files.hpp"
#include "calibrate/observations.hpp"
#include "cli/calibration_cluster.hpp"
#include "cli/command.hpp"
#include "report/collective_figure.hpp"
#include "report/collective_text.hpp"

namespace amsp {
namespace {

class CollectiveCommand : public Command {
 public:
  std::string_view name() const override { return "collective"; }
  std::string_view description() const override {
    return "predict the time of one collective, or compare logs with the model";
  }
  std::string_view group() const override { return "Questions"; }
  std::string_view example() const override {
    return "amsp collective --kind all_reduce --bytes 1GiB --gpus 128 --cluster dgx-h100";
  }
  std::string_view details() const override {
    return "--bytes is the whole buffer, as nccl-tests' size column means it (all_gather and "
           "reduce_scatter: all ranks' parts together). The cluster defaults to the one that the "
           "calibration was made on, the calibration to the cluster's own; without one "
           "(--calibration \"\")\n"
           "the default model answers, and says so.\n"
           "With LOG files: measured points, the model's line and its 90 % band, and residuals, as "
           "one SVG figure.";
  }
  void declare(Options& options) override {
    options.optional_positionals("LOG", "measurement logs to compare with the model", logs_);
    options.option("--kind", "KIND", "all_reduce, all_gather, reduce_scatter, broadcast ...",
                   kind_);
    options.option("--bytes", "SIZE", "size of the whole buffer, for example 256MiB", bytes_);
    options.integer("--gpus", "N", "ranks of the group", gpus_, 2, 1 << 24);
    options.integer("--gpus-per-node", "R", "ranks on each node (default: fill nodes)", per_node_,
                    1, 1 << 16);
    options.option("--dtype", "DTYPE", "element type", dtype_);
    options.option("--cluster", "CLUSTER", "name or path", cluster_);
    options.option("--calibration", "CALIBRATION", "name or path; \"\" for none", calibration_);
    options.choice("--format", "FORMAT", "table or json", format_, {"table", "json"});
    options.output_file("-o,--output", "FILE", "with LOG: the SVG figure", output_);
  }
  int run() override {
    if (logs_.empty() && !output_.empty()) {
      throw InputError({"command line", "-o"},
                       "plots logs against the model and needs a LOG; without one the prediction "
                       "goes to stdout");
    }
    const ClusterSpec cluster = cluster_of();
    const auto model =
        load_collective_model(calibration_ ? *calibration_ : cluster.calibration, cluster);
    if (!logs_.empty()) return compare(*model, cluster);
    if (kind_.empty() || bytes_.empty() || !gpus_) {
      throw InputError("give --kind, --bytes and --gpus, or logs to compare with the model");
    }
    CollectiveQuestion question;
    question.kind = parse_collective_kind(kind_, {"command line", "--kind"});
    question.bytes = parse_bytes(bytes_, {"command line", "--bytes"});
    check_size(question.bytes);
    question.shape = shape_of(cluster);
    const CollectiveEstimate estimate =
        model->estimate(question.kind, question.bytes,
                        parse_dtype(dtype_, {"command line", "--dtype"}), question.shape);
    fmt::print("{}", format_ == "json" ? collective_json(question, cluster, estimate)
                                       : collective_table(question, cluster, estimate));
    return 0;
  }

 private:
  // A buffer is whole bytes, and lies in the memory of a GPU: the largest today has 288 GB.
  void check_size(Bytes bytes) const {
    constexpr Bytes most = Bytes(1e12);
    if (bytes >= Bytes(1) && bytes <= most && bytes.value() == std::floor(bytes.value())) return;
    throw InputError(
        {"command line", "--bytes"},
        fmt::format("\"{}\" is no size of a buffer: whole bytes from 1 to 1TB, such as "
                    "256MiB",
                    bytes_));
  }

  ClusterSpec cluster_of() const {
    if (!cluster_.empty()) return load_cluster(cluster_);
    if (calibration_.value_or("").empty()) {
      throw InputError("give --cluster, --calibration or both");
    }
    return cluster_of_calibration(*calibration_);
  }

  GroupShape shape_of(const ClusterSpec& cluster) const {
    const int per_node = static_cast<int>(per_node_.value_or(0));
    if (per_node > cluster.node.gpus) {
      throw InputError(fmt::format("--gpus-per-node is {}, but a node of {} has {}", per_node,
                                   cluster.name, counted(cluster.node.gpus, "GPU")));
    }
    const int ranks = static_cast<int>(*gpus_);
    if (per_node > ranks) {
      throw InputError(
          fmt::format("--gpus-per-node is {}, more than the {} of --gpus", per_node, ranks));
    }
    const GroupShape shape = shape_on(cluster, ranks, per_node);
    if (ranks % shape.ranks_per_node != 0) {
      throw InputError(fmt::format("{} do not fill nodes of {}", counted(ranks, "GPU"),
                                   counted(shape.ranks_per_node, "GPU")));
    }
    if (shape.nodes > 1 && cluster.node.nics.empty()) {
      throw InputError(fmt::format("{} is one node of {} without NICs", cluster.name,
                                   counted(cluster.node.gpus, "GPU")));
    }
    if (shape.nodes > cluster.nodes) {
      note(fmt::format("{} x {}: more than the {} of {}; it is enlarged by nodes of the same kind",
                       shape.nodes, counted(shape.ranks_per_node, "GPU"),
                       counted(cluster.nodes, "node"), cluster.name));
    }
    return shape;
  }

  int compare(const CollectiveModel& model, const ClusterSpec& cluster) const {
    if (output_.empty()) throw InputError("give -o FILE.svg for the figure");
    std::vector<MeasuredRun> runs;
    for (const std::string& log : logs_) {
      for (MeasuredRun& run : read_logs(log)) runs.push_back(std::move(run));
    }
    refuse_failed(runs);
    for (const std::string& warning : other_machine(runs, cluster)) {
      remark("warning: " + warning + "\n");
    }
    if (const std::string said = model.note(); !said.empty()) remark("warning: " + said + "\n");
    const Observations observations = observations_of(runs, cluster);
    for (const RefusedRow& row : observations.refused) {
      remark(fmt::format("refused: {}: {}: {}\n", row.file, row.place, row.reason));
    }
    for (const std::string& warning : observations.warnings) {
      remark("warning: " + warning + "\n");
    }
    if (observations.rows.empty()) {
      refuse_wrong(runs);
      throw InputError({logs_.front(), ""}, "holds no time that can be compared");
    }
    fmt::print("{}", comparison_table(observations.rows, model));
    const auto svg = comparison_figure(observations.rows, model);
    if (!svg) throw InputError({output_, ""}, "not written: figures need gnuplot");
    write_file(output_, *svg);
    note("wrote " + output_);
    return 0;
  }

  std::vector<std::string> logs_;
  std::string kind_, bytes_, cluster_, output_;
  std::optional<std::string> calibration_;
  std::string dtype_ = "bf16";
  std::string format_ = "table";
  std::optional<long long> gpus_, per_node_;
};

}  // namespace

std::unique_ptr<Command> command_collective() { return std::make_unique<CollectiveCommand>(); }

}  // namespace amsp
