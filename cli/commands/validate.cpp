// SPDX-License-Identifier: Apache-2.0
// amsp validate: predicted against executed on the machine at hand.
#include <fmt/format.h>

#include <filesystem>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/terminal.hpp"
#include "base/units_text.hpp"
#include "cli/command.hpp"
#include "cli/html_flag.hpp"
#include "exec/backend.hpp"
#include "exec/rank_team.hpp"
#include "scenarios/validation/benchmark.hpp"
#include "scenarios/validation/validation.hpp"

namespace amsp {
namespace {

class ValidateCommand : public Command {
 public:
  std::string_view name() const override { return "validate"; }
  std::string_view description() const override {
    return "measure this machine, predict training steps, execute them, compare";
  }
  std::string_view group() const override { return "Schedules and devices"; }
  std::string_view example() const override {
    return "amsp validate --quick --html validation.html";
  }
  std::string_view details() const override {
    return "Measures collectives, fits their times, and then predicts and executes training steps "
           "under many sharding strategies. Where: a cluster of network namespaces on this machine "
           "(--testbed; needs root and iproute2), or real hosts (--hosts): a:4,b:4 or a file with "
           "a host a line, reached by ssh; localhost:4; or env, as a rank that torchrun, srun or "
           "mpirun started. With --require the exit status is 1 when an error is larger.";
  }
  void declare(Options& options) override {
    options.option("--testbed", "NxR", "nodes x ranks per node (default 2x4)", size_);
    options.option("--hosts", "HOSTS", "a:4,b:4, a host file, localhost:4, or env", hosts_);
    options.choice("--backend", "NAME", "with --hosts: gloo or nccl", backend_, {"gloo", "nccl"});
    options.option("--cluster", "CLUSTER", "with nccl: the hosts' cluster (name or path)",
                   cluster_);
    options.option("--program", "FILE", "amsp on the hosts (default: as here)", ssh_.program);
    options.option("--address", "ADDR", "this machine, as the hosts reach it (default: found out)",
                   ssh_.address);
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
    options.output_folder("--save-measurements", "DIR",
                          "write what was fitted as CSV that amsp calibrate reads", measurements_);
    options.output_file("--timeline", "FILE",
                        "write both traces of each schedule as Chrome trace JSON", timeline_);
    html_.declare(options);
  }

  int run() override {
    ValidationOptions options;
    options.quick = quick_;
    options.repetitions = static_cast<int>(repetitions_);
    options.steps = static_cast<int>(steps_);
    options.backend = backend_;
    options.progress = [](std::string_view what) { note(what); };
    refuse_unused();
    const double bound = required();
    std::optional<ValidationReport> report;
    if (hosts_) {
      report = on_hosts(options);
    } else {
      read_testbed(options);
      report = validate_on_testbed(options);
    }
    if (!report) return 0;  // rank 0 reports
    write(*report);
    if (bound <= 0) return 0;
    if (report->largest_step_error() > bound || report->median_collective_error() > bound)
      throw CheckFailed(fmt::format(
          "errors of {:.1f} % (step time) and {:.1f} % (collectives); "
          "accepted are {}",
          100 * report->largest_step_error(), 100 * report->median_collective_error(), *require_));
    return 0;
  }

 private:
  // An option of the other place would be ignored.
  void refuse_unused() const {
    const auto refuse = [](const char* option, const char* why) {
      throw InputError(Place{"command line", option}, why);
    };
    if (hosts_) {
      const char* const why = "is of the testbed, but --hosts says to use real hosts; give one";
      if (size_) refuse("--testbed", why);
      if (intra_) refuse("--intra", why);
      if (inter_) refuse("--inter", why);
      if (!uplinks_.empty()) refuse("--uplink", why);
    } else {
      const char* const why = "is of real hosts, and needs --hosts";
      if (cluster_) refuse("--cluster", why);
      if (!ssh_.program.empty()) refuse("--program", why);
      if (!ssh_.address.empty()) refuse("--address", why);
    }
  }

  void read_testbed(ValidationOptions& options) const {
    if (backend_ != "gloo")
      throw InputError(Place{"command line", "--backend"},
                       "the testbed has no GPUs; give --hosts for nccl");
    parse_testbed_size(size_.value_or("2x4"), options.shape);
    const auto rate = [](const std::optional<std::string>& given, const char* otherwise,
                         const char* option) {
      return parse_bandwidth(given.value_or(otherwise), {"command line", option});
    };
    options.shape.intra = rate(intra_, "400mbit", "--intra");
    options.shape.inter = rate(inter_, "100mbit", "--inter");
    if (options.shape.inter > options.shape.intra)
      throw InputError(Place{"command line", "--inter"},
                       "an uplink faster than a rank's own link would not be the bottleneck; give "
                       "at most the rate of --intra");
    for (const std::string& uplink : uplinks_) parse_uplink(uplink, options.shape);
  }

  // Nothing for ranks other than 0 of a launcher.
  [[nodiscard]] std::optional<ValidationReport> on_hosts(ValidationOptions& options) const {
    if (cluster_) options.cluster = load_cluster(*cluster_);
    if (backend_ == "nccl" && !cluster_)
      throw InputError(Place{"command line", "--backend"},
                       "nccl needs --cluster: what the hosts are (amsp list clusters)");
    const auto backend = find_backend(backend_);
    if (*hosts_ == "env") {
      const auto self = rank_identity(process_environment());
      if (!self)
        throw InputError(Place{"command line", "--hosts"},
                         "env: no launcher's variables are set (torchrun, srun, mpirun)");
      if (self->rank != Rank(0)) {
        stand_by(*self, options.timeout);
        return std::nullopt;
      }
      refuse_unavailable(*backend);
      const auto team = launched_team(*self, options.timeout);
      return validate_on_hosts(options, *team, self->world, {});
    }
    const std::vector<HostRanks> hosts = parse_hosts(*hosts_);
    std::vector<std::string> names;
    bool all_here = true;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      all_here &= is_this_host(hosts[i].name);
      // Entries count as nodes, also when they are one machine.
      for (int rank = 0; rank < hosts[i].ranks; ++rank)
        names.push_back(hosts.size() > 1 ? fmt::format("{}:{}", hosts[i].name, i) : hosts[i].name);
    }
    const int ranks = static_cast<int>(names.size());
    if (all_here) {
      refuse_unavailable(*backend);
      return validate_on_hosts(options, *local_team({}), ranks, names);
    }
    SshOptions ssh = ssh_;
    ssh.timeout = options.timeout;
    ssh.say = options.progress;
    if (ssh.program.empty()) ssh.program = std::filesystem::read_symlink("/proc/self/exe");
    return validate_on_hosts(options, *ssh_team(hosts, ssh), ranks, names);
  }

  static void refuse_unavailable(const Backend& backend) {
    if (const std::string reason = backend.unavailable(); !reason.empty())
      throw InputError(fmt::format("backend {}: {}", backend.name(), reason));
  }

  static void write_and_say(const std::filesystem::path& file, const std::string& content) {
    write_file(file, content);
    note("wrote " + file.string());
  }

  void write(const ValidationReport& report) const {
    if (output_) write_and_say(*output_, to_json(report));
    if (timeline_) write_and_say(*timeline_, validation_timeline(report));
    if (!measurements_.empty())
      write_and_say(std::filesystem::path(measurements_) / "collectives.csv",
                    measurements_csv(report.benchmark));
    html_.write("Predicted and measured", {{"", "validation.json", to_json(report)},
                                           {"", "timeline.json", validation_timeline(report)}});
    fmt::print("{}", format_ == "json" ? to_json(report) : to_table(report));
  }

  [[nodiscard]] double required() const {
    if (!require_) return 0;
    char* end = nullptr;
    const double percent = std::strtod(require_->c_str(), &end);
    if (std::string_view(end) != "%" || !(percent > 0))
      throw InputError(Place{"command line", "--require"},
                       fmt::format("\"{}\" is no percentage; write e.g. 25%", *require_));
    return percent / 100;
  }

  std::string format_ = "table", backend_ = "gloo", measurements_;
  std::optional<std::string> size_, intra_, inter_, hosts_, cluster_;
  SshOptions ssh_;
  std::vector<std::string> uplinks_;
  std::optional<std::string> require_, output_, timeline_;
  long long repetitions_ = 5, steps_ = 4;
  bool quick_ = false;
  HtmlFlag html_;
};

}  // namespace

std::unique_ptr<Command> command_validate() { return std::make_unique<ValidateCommand>(); }

}  // namespace amsp
