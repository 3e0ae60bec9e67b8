// SPDX-License-Identifier: Apache-2.0
// amsp init: a commented scenario to start from, written only when it runs.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/counted.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/terminal.hpp"
#include "base/units_text.hpp"
#include "cli/command.hpp"
#include "scenarios/run.hpp"

namespace amsp {
namespace {

constexpr std::string_view kText = R"({{
  // A scenario of amsp (docs/formats/scenario.md). Comments are allowed; every quantity has a unit.
  // Next:  amsp simulate FILE       how fast this runs
  //        amsp explain FILE        where the time goes
  //        amsp simulate FILE --set strategy=zero3 --set training.micro_batch=2
  "description": {description},

  // A name (amsp list clusters) or the path of a file. {cluster_note}
  "cluster": {cluster},
  // One run for each number: within one node, or filling whole nodes of {node_gpus}.
  "gpus": [{gpus}],

  // A name (amsp list models), or the path of a Hugging Face config.json. {model_note}
  "model": {model},

  "training": {{
    "sequence_length": 4096,
    "micro_batch": 1,          // sequences per GPU in one pass
    "global_batch": {batch},      // sequences per optimizer step over all GPUs: a multiple of micro_batch x GPUs
    "dtype": "{dtype}",
    "recompute": "none"        // none, selective or full: trades time for activation memory
  }},

  // A preset (amsp list strategies), or meshes of your own (GPUs inside a node x nodes):
  //   {{"preset": "amsp", "parameters": "4x1", "gradients": "4x1", "optimizer": "8x1"}}
  "strategy": {strategy},

  // Measured collectives and kernels: a name, the path of a file that amsp calibrate wrote, or null
  // for data-sheet rates.
  "calibration": {calibration}
}}
)";

std::string json_text(std::string_view text) {
  return nlohmann::ordered_json(text).dump(-1, ' ', false,
                                           nlohmann::ordered_json::error_handler_t::replace);
}

class InitCommand : public Command {
 public:
  std::string_view name() const override { return "init"; }
  std::string_view description() const override {
    return "write a commented scenario for a model and a cluster, to start from";
  }
  std::string_view group() const override { return "Inputs"; }
  std::string_view example() const override {
    return "amsp init --model ./config.json --cluster dgx-a100 --gpus 64 -o my.json";
  }
  void declare(Options& options) override {
    options.option("--model", "MODEL", "name, or path of a model or Hugging Face config.json",
                   model_);
    options.option("--cluster", "CLUSTER", "name or path", cluster_);
    options.integer("--gpus", "N", "GPUs of the job (default: all of the cluster's)", gpus_, 1,
                    1 << 20);
    options.option("--strategy", "STRATEGY", "preset", strategy_);
    options.output_file("-o,--output", "FILE", "where it goes (default: standard output)", output_);
    options.flag("--force", "overwrite FILE when it exists", force_);
  }

  int run() override {
    // What somebody has edited since is not lost to a second init.
    if (output_ && !force_ && std::filesystem::is_regular_file(*output_))
      throw InputError({*output_, ""}, "exists already; --force overwrites it");
    const std::string text = scenario();
    try_out(text);
    if (!output_) {
      fmt::print("{}", text);
      return 0;
    }
    write_file(*output_, text);
    note("wrote " + *output_ + "; next: amsp simulate " + *output_);
    return 0;
  }

 private:
  [[nodiscard]] std::string scenario() const {
    const ClusterSpec cluster = load_cluster(cluster_);
    const ModelShape model = load_model(model_);
    const int gpus = gpus_ ? static_cast<int>(*gpus_) : cluster.gpus();
    const int batch = (1024 + gpus - 1) / gpus * gpus;  // the paper's 1024 where it divides
    return fmt::format(
        kText,
        fmt::arg("description", json_text(fmt::format("{} on {} of {}", model.name,
                                                      counted(gpus, "GPU"), cluster.name))),
        fmt::arg("cluster_note", fmt::format("{}: {} GPUs a node, {} NICs.", cluster.node.gpu.name,
                                             cluster.node.gpus, cluster.node.nics.size())),
        fmt::arg("cluster", json_text(cluster_)), fmt::arg("node_gpus", cluster.node.gpus),
        fmt::arg("gpus", gpus),
        fmt::arg("model_note", fmt::format("{} layers, hidden size {}, vocabulary {}.",
                                           model.layers, model.hidden, model.vocabulary)),
        fmt::arg("model", json_text(model_)), fmt::arg("batch", batch),
        fmt::arg("dtype", dtype_of(cluster.node.gpu)), fmt::arg("strategy", json_text(strategy_)),
        fmt::arg("calibration",
                 cluster.calibration.empty() ? "null" : json_text(cluster.calibration)));
  }

  // bf16 where the GPU computes in it; V100 and older do not.
  static std::string_view dtype_of(const GpuSpec& gpu) {
    if (gpu.peak.empty() || gpu.peak.count(Dtype::bf16) > 0) return name_of(Dtype::bf16);
    return name_of(gpu.peak.count(Dtype::fp16) > 0 ? Dtype::fp16 : gpu.peak.begin()->first);
  }

  // What is written must run: the scenario is simulated first. Throws what simulate would.
  static void try_out(const std::string& text) {
    const Scenario tried = parse_scenario(JsonValue::parse_text(text, "amsp init"), "init");
    for (const int gpus : tried.gpus) {
      const RunResult run = run_scenario(tried, gpus, {});
      if (!run.fits)
        note(fmt::format("on {} this does not fit: {}", counted(gpus, "GPU"), run.fit_advice));
    }
  }

  std::string model_ = "llama-7b";
  std::string cluster_ = "dgx-a100";
  std::string strategy_ = "amsp";
  std::optional<long long> gpus_;
  std::optional<std::string> output_;
  bool force_ = false;
};

}  // namespace

std::unique_ptr<Command> command_init() { return std::make_unique<InitCommand>(); }

}  // namespace amsp
