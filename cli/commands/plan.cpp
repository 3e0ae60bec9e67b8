// SPDX-License-Identifier: Apache-2.0
// amsp plan: the best meshes, micro-batch, recompute and overlap for a job.
#include <charconv>
#include <cstdio>
#include <sstream>

#include "base/file.hpp"
#include "base/progress.hpp"
#include "base/terminal.hpp"
#include "base/units_text.hpp"
#include "cli/command.hpp"
#include "cli/html_flag.hpp"
#include "cli/replay_options.hpp"
#include "report/notes.hpp"
#include "report/plan_report.hpp"
#include "report/run_trace.hpp"
#include "scenarios/parallel.hpp"
#include "scenarios/planner.hpp"

namespace amsp {
namespace {

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

class PlanCommand : public Command {
 public:
  std::string_view name() const override { return "plan"; }
  std::string_view description() const override {
    return "find the best sharding of a training job on a cluster";
  }
  std::string_view group() const override { return "Questions"; }
  std::string_view example() const override {
    return "amsp plan --model ./config.json --cluster dgx-h100 --gpus 128 --global-batch 1024 "
           "--seq-len 4096";
  }
  std::string_view details() const override {
    return "Tries every choice of P, G and OS meshes with every micro-batch size, recompute and\n"
           "broadcast-overlap setting; prints the best with the reason for their order.\n"
           "--global-batch counts sequences; with a suffix, tokens (4Mi tokens).\n"
           "When nothing fits, the plan is empty, stderr says by how much the closest candidate\n"
           "misses and what would fit (settings, GPUs, sequence), and the exit status is 1.";
  }
  void declare(Options& options) override {
    options.option("--model", "MODEL", "model: name, or path (Hugging Face config.json too)",
                   model_);
    options.option("--cluster", "CLUSTER", "cluster: name or path", cluster_);
    options.integer("--gpus", "N", "GPUs of the job", gpus_, 1, 1 << 20);
    options.option("--global-batch", "B", "sequences per optimizer step, or tokens", batch_);
    options.integer("--seq-len", "S", "tokens of a sequence", sequence_, 1, 1 << 24);
    options.option("--micro-batch", "LIST", "sequences, e.g. 1,2,4,8", micro_batches_);
    options.option("--recompute", "LIST", "none, selective, full", recompute_);
    options.option("--calibration", "CALIBRATION", "calibration (default: the cluster's own)",
                   calibration_);
    options.option("--dtype", "T", "of parameters and gradients", dtype_);
    options.option("--memory-reserve", "BYTES", "left free on each GPU", reserve_);
    options.integer("--top", "K", "how many to print", top_, 1, 1000);
    options.choice("--objective", "WHAT", "step-time (simulated) or paper (T_comm, no overlap)",
                   objective_, {"step-time", "paper"});
    options.option("--tokens", "T", "token budget of the whole training, e.g. \"300B tokens\"",
                   tokens_);
    options.number("--price", "P", "price of a GPU-hour (default: the cluster's, if known)", price_,
                   0, 1e6);
    options.integer("-j,--jobs", "N", "threads", jobs_, 1, 1024);
    options.choice("--format", "FORMAT", "table, json or csv", format_, {"table", "json", "csv"});
    options.output_file("-o,--output", "FILE", "write the plan as JSON, too", output_);
    html_.declare(options);
    replay_.declare(options);
  }
  int run() override {
    const PlanRequest request = read();
    const PlanPrice price{budget(), price_ > 0 ? price_ : request.cluster.price_per_gpu_hour};
    const Plan plan = find_plan(request);
    if (!output_.empty()) {
      write_file(output_, plan_json(request, plan, price));
      note("wrote " + output_);
    }
    const std::string text = format_ == "json"  ? plan_json(request, plan, price)
                             : format_ == "csv" ? plan_csv(request, plan, price)
                                                : plan_table(request, plan, price);
    std::fputs(text.c_str(), stdout);
    if (format_ == "csv")  // has no place for them
      for (const std::string& remark : notes_of(plan)) note(remark);
    if (html_.wanted()) write_page(request, plan, plan_json(request, plan, price));
    if (plan.best.empty()) throw CheckFailed("nothing fits: " + plan.nothing_fits);
    return 0;
  }

 private:
  [[nodiscard]] Tokens budget() const {  // 0: not asked for
    if (tokens_.empty()) return Tokens(0);
    const Tokens budget = parse_tokens(tokens_, {"--tokens", ""});
    if (budget < Tokens(1))
      throw InputError({"--tokens", ""}, "\"" + tokens_ + "\" is no budget; at least one token");
    return budget;
  }
  static Plan find_plan(const PlanRequest& request) {
    Progress progress("plan", static_cast<std::int64_t>(plan_candidates(request).size()));
    return make_plan(request, [&progress](std::int64_t settled) { progress.advance(settled); });
  }
  // The plan, and one step of its best candidate.
  void write_page(const PlanRequest& request, const Plan& plan, const std::string& json) const {
    std::vector<ReportFile> files{{"", "plan.json", json}};
    if (!plan.best.empty()) {
      const Machine machine(request.cluster, request.calibration, request.gpus);
      files.push_back({"", "trace.json", run_trace(machine, {}, plan.best.front().run)});
    }
    html_.write("Plan of " + request.model.name + " on " + request.cluster.name, files);
  }
  [[nodiscard]] PlanRequest read() const {
    for (const auto& [flag, value] :
         {std::pair{"--model", &model_}, {"--cluster", &cluster_}, {"--global-batch", &batch_}})
      if (value->empty()) throw InputError(std::string(flag) + " is required");
    PlanRequest request;
    request.model = load_model(model_);
    request.cluster = load_cluster(cluster_);
    request.calibration = calibration_ ? *calibration_ : request.cluster.calibration;
    request.gpus = static_cast<int>(gpus_);
    say_enlarged(request.cluster, request.gpus);
    const bool number = batch_.find_first_not_of("0123456789") == std::string::npos;
    request.training = setting("--global-batch", "global_batch", number ? batch_ : quoted(batch_));
    request.training.dtype = setting("--dtype", "dtype", quoted(dtype_)).dtype;
    request.training.memory_reserve =
        setting("--memory-reserve", "memory_reserve", quoted(reserve_)).memory_reserve;
    for (const std::string& size : split(micro_batches_))
      request.micro_batch_sizes.push_back(micro_batch_of(size));
    if (request.micro_batch_sizes.empty() || split(recompute_).empty())
      throw InputError("--micro-batch and --recompute need at least one value each");
    for (const std::string& word : split(recompute_))
      request.recompute.push_back(recompute_of(word));
    request.objective = objective_ == "paper" ? PlanObjective::paper : PlanObjective::step_time;
    request.top = static_cast<int>(top_);
    request.threads = static_cast<int>(jobs_);
    request.replay = replay_.options();
    return request;
  }
  // A cluster's number of nodes is only a default; whoever has no more of them wants to know.
  static void say_enlarged(const ClusterSpec& cluster, int gpus) {
    if (gpus > cluster.gpus())
      note("--gpus " + std::to_string(gpus) + ": more than the " + std::to_string(cluster.gpus()) +
           " GPUs of " + cluster.name + " (nodes: " + std::to_string(cluster.nodes) +
           "); it is enlarged by nodes of the same kind");
  }
  static std::string quoted(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
      if (c == '"' || c == '\\') result += '\\';
      result += c;
    }
    return result + "\"";
  }
  // One reader for the training settings, the scenario's; errors name the option.
  [[nodiscard]] Training setting(const std::string& flag, const std::string& key,
                                 const std::string& value) const {
    const std::string json =
        "{\"sequence_length\": " + std::to_string(sequence_) + ", \"" + key + "\": " + value + "}";
    try {
      return parse_training(JsonValue::parse_text(json, flag));
    } catch (const InputError& error) {
      const std::string message = error.what(), place = flag + ": /" + key + ": ";
      if (!message.starts_with(place)) throw;
      throw InputError({flag, ""}, message.substr(place.size()));
    }
  }
  static std::int64_t micro_batch_of(const std::string& word) {
    constexpr std::int64_t largest = 1 << 20;
    std::int64_t size = 0;
    const char* const end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, size);
    if (error != std::errc{} || stop != end || size < 1 || size > largest)
      throw InputError({"--micro-batch", ""},
                       "\"" + word + "\" is not a number of sequences; accepted: whole numbers " +
                           "from 1 to " + std::to_string(largest) + ", such as 1,2,4,8");
    return size;
  }
  static Recompute recompute_of(const std::string& word) {
    const auto names = recompute_names();
    const auto it = std::find(names.begin(), names.end(), word);
    if (it == names.end())
      throw InputError({"--recompute", ""}, unknown_name("recompute setting", word, names));
    return static_cast<Recompute>(it - names.begin());
  }

  std::string model_, cluster_, batch_,
      micro_batches_ = "1,2,4,8", recompute_ = "none,full", dtype_ = "bf16", reserve_ = "2GiB",
      objective_ = "step-time", tokens_, format_ = "table", output_;
  std::optional<std::string> calibration_;
  long long gpus_ = 8, sequence_ = 4096, top_ = 5, jobs_ = default_threads();
  double price_ = 0;
  HtmlFlag html_;
  ReplayFlags replay_;
};

}  // namespace

std::unique_ptr<Command> command_plan() { return std::make_unique<PlanCommand>(); }

}  // namespace amsp
