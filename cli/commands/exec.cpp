// SPDX-License-Identifier: Apache-2.0
// amsp exec: run a schedule on real devices.
#include <fmt/format.h>

#include <filesystem>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/terminal.hpp"
#include "base/units_text.hpp"
#include "cli/calibration_cluster.hpp"
#include "cli/command.hpp"
#include "exec/backend.hpp"
#include "exec/identity.hpp"
#include "exec/launch.hpp"
#include "exec/rank_team.hpp"
#include "scenarios/run.hpp"
#include "workloads/generator.hpp"
#include "workloads/idle_switches.hpp"

namespace amsp {
namespace {

class ExecCommand : public Command {
 public:
  std::string_view name() const override { return "exec"; }
  std::string_view description() const override {
    return "run a schedule on real devices: Gloo on CPUs, NCCL on GPUs";
  }
  std::string_view group() const override { return "Schedules and devices"; }
  std::string_view example() const override {
    return "amsp exec step.json --nproc 8 --backend gloo";
  }
  std::string_view details() const override {
    return "Ranks are local processes (as many as the schedule has), or come from torchrun, srun "
           "or mpirun, whose environment variables are read. A rank that dies, hangs or disagrees "
           "on the schedule ends the job with a message that names it.";
  }
  void declare(Options& options) override {
    options.optional_positional(
        "SCHEDULE|SCENARIO",
        "schedule file (amsp schedule ... -o schedule.json), or a scenario: name or file", input_);
    options.integer("--gpus", "N", "ranks of a scenario (default: its first number of GPUs)", gpus_,
                    1, 1 << 20);
    options.option("--cluster", "CLUSTER",
                   "whose GPU the kernels are timed for: name or path (default: the scenario's, or "
                   "the one that the calibration was made on)",
                   cluster_);
    options.option("--calibration", "CALIBRATION",
                   "measured kernel times: name or path (default: the cluster's own)",
                   calibration_);
    options.repeated("--set", "KEY=VALUE", "replace a value of the scenario", settings_);
    options.choice("--backend", "NAME", "gloo or nccl", backend_, {"gloo", "nccl"});
    options.integer("--nproc", "N", "local ranks; must be the schedule's number of ranks", nproc_,
                    1, 1 << 16);
    options.integer("--steps", "K", "measured steps", steps_, 1, 1000000);
    options.integer("--warmup", "W", "steps before them", warmup_, 0, 1000000);
    options.choice("--compute", "MODE",
                   "real: do the arithmetic; timed: emulate a device for the kernels' durations",
                   compute_, {"real", "timed"});
    options.flag("--check", "fresh data for every collective, and its result checked", check_);
    options.option("--timeout", "TIME", "give up when nothing ends for so long (default 60s)",
                   timeout_);
    options.flag("--stand-by",
                 "as a rank in a launcher's environment: run the jobs that amsp validate --hosts "
                 "sends",
                 stand_by_);
    options.option("--testbed", "NAME", "run the ranks inside this testbed (exec/testbed up)",
                   testbed_);
    options.output_file("-o,--output", "FILE", "write the trace as JSON, which Perfetto opens",
                        output_);
  }

  int run() override {
    if (stand_by_) return run_standing();
    if (input_.empty())
      throw InputError(Place{"command line", "SCHEDULE|SCENARIO"},
                       "is missing: a schedule file, or a scenario (amsp list scenarios)");
    // What cannot run here at all is said before what the schedule lacks.
    if (const std::string reason = find_backend(backend_)->unavailable(); !reason.empty())
      throw InputError(fmt::format("backend {}: {}", backend_, reason));
    const Seconds timeout = read_timeout();
    ExecJob job = read_job();
    job.options.backend = backend_;
    job.options.compute = parse_compute_mode(compute_);
    job.options.steps = static_cast<int>(steps_);
    job.options.warmup = static_cast<int>(warmup_);
    job.options.check = check_;
    job.options.timeout = timeout;
    if (nproc_ && *nproc_ != job.schedule.world)
      throw InputError(
          Place{"command line", "--nproc"},
          fmt::format("{} ranks, but the schedule has {}", *nproc_, job.schedule.world));
    if (job.options.compute == ComputeMode::real) job.durations.clear();
    const auto identity = nproc_ || testbed_ ? std::nullopt : rank_identity(process_environment());
    std::optional<ExecTrace> trace;
    if (identity)
      trace = run_as_rank(job, *identity);
    else
      trace =
          run_local(job, {testbed_ ? testbed_namespaces(*testbed_) : std::vector<std::string>{}});
    if (!trace) return 0;  // rank 0 reports
    if (output_) {
      write_file(*output_, to_json(job.schedule, *trace));
      note("wrote " + *output_);
    }
    report(*trace);
    return 0;
  }

 private:
  [[nodiscard]] int run_standing() const {
    const auto identity = rank_identity(process_environment());
    if (!identity)
      throw InputError(Place{"command line", "--stand-by"},
                       "needs RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT in the environment");
    stand_by(*identity, read_timeout());
    return 0;
  }

  [[nodiscard]] Seconds read_timeout() const {
    const Seconds timeout = parse_seconds(timeout_, {"command line", "--timeout"});
    if (timeout <= Seconds(0))
      throw InputError(Place{"command line", "--timeout"}, "must be more than 0 s, such as 60s");
    return timeout;
  }

  // A file with blocks is a schedule; anything else is a scenario, whose cluster times the kernels.
  [[nodiscard]] ExecJob read_job() const {
    ExecJob job;
    std::error_code error;
    if (std::filesystem::is_regular_file(input_, error) &&
        JsonValue::parse_file(input_).find("blocks")) {
      if (!settings_.empty() || gpus_)
        throw InputError(Place{"command line", settings_.empty() ? "--gpus" : "--set"},
                         "is for scenarios, but \"" + input_ + "\" is a schedule");
      job.schedule = load_schedule(input_);
      // Without either, kernels of stated times need no more; others are refused (check_job).
      if (cluster_) {
        const ClusterSpec cluster = load_cluster(*cluster_);
        time_kernels(job, cluster, calibration_.value_or(cluster.calibration));
      } else if (!calibration_.value_or("").empty()) {
        time_kernels(job, cluster_of_calibration(*calibration_), *calibration_);
      }
      return job;
    }
    const Scenario scenario = load_scenario(input_, settings_);
    const int gpus = gpus_ ? static_cast<int>(*gpus_) : scenario.gpus.front();
    const Machine machine(scenario, gpus);
    for (const std::string& idle : idle_switches(scenario.strategy, machine.data_parallel()))
      note(idle);
    job.schedule = generate_schedule(scenario.model, scenario.training,
                                     parse_strategy(scenario.strategy, machine.data_parallel()),
                                     machine.data_parallel());
    const ClusterSpec cluster = cluster_ ? load_cluster(*cluster_) : scenario.cluster;
    time_kernels(job, cluster,
                 calibration_.value_or(cluster_ ? cluster.calibration : scenario.calibration),
                 scenario.compute_efficiency);
    return job;
  }
  static void time_kernels(ExecJob& job, const ClusterSpec& cluster, const std::string& calibration,
                           double compute_efficiency = 1) {
    const auto compute =
        at_efficiency(load_compute_model(calibration, cluster.node.gpu), compute_efficiency);
    for (const Op& op : job.schedule.ops) {
      job.durations.emplace_back();
      for (const Kernel& kernel : op.kernels)
        job.durations.back() += compute->estimate(kernel).time;
    }
  }

  void report(const ExecTrace& trace) const {
    fmt::print("{} on {} ranks ({}): step time {} (median of {})\n", trace.schedule, trace.ranks,
               trace.backend, human(trace.step_time), trace.step_times.size());
    if (check_) fmt::print("all collectives checked: right\n");
  }

  std::string input_, backend_ = "gloo", compute_ = "timed", timeout_ = "60s";
  std::vector<std::string> settings_;
  std::optional<std::string> testbed_, output_, cluster_, calibration_;
  std::optional<long long> nproc_, gpus_;
  long long steps_ = 3, warmup_ = 1;
  bool check_ = false, stand_by_ = false;
};

}  // namespace

std::unique_ptr<Command> command_exec() { return std::make_unique<ExecCommand>(); }

}  // namespace amsp
