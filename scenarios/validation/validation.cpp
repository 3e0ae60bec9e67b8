// SPDX-License-Identifier: Apache-2.0
#include "scenarios/validation/validation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/error.hpp"
#include "base/median.hpp"
#include "base/units_text.hpp"
#include "calibrate/collective_calibration.hpp"
#include "calibrate/observations.hpp"
#include "exec/rank_team.hpp"
#include "scenarios/validation/benchmark.hpp"
#include "scenarios/validation/cases.hpp"
#include "scenarios/validation/testbed_cluster.hpp"

namespace amsp {
namespace {

constexpr int kReplayedSteps = 4;
// On hosts, sizes are scaled such that an all-reduce of 1 MiB x scale over all ranks takes about
// as long as on the testbed for which they were chosen (8 ranks, 100 Mbit/s), within limits.
constexpr Bytes kPilot{1048576.0};
constexpr Seconds kPilotTime{0.1};
constexpr double kLargestScale = 64;
// A noisy measurement is repeated so often at most; all steps count then. The quick validation
// has no time for that.
constexpr int kRepeats = 2;
constexpr double kNoisyShare = 0.25;  // of a benchmark's rows

// Ranks are numbered node by node, equally many on each.
TestbedShape shape_of(const std::vector<std::string>& hosts) {
  TestbedShape shape;
  shape.nodes = 1;
  const auto first = std::find_if(hosts.begin(), hosts.end(),
                                  [&](const std::string& host) { return host != hosts.front(); });
  shape.ranks_per_node = static_cast<int>(first - hosts.begin());
  shape.nodes = static_cast<int>(hosts.size()) / shape.ranks_per_node;
  for (std::size_t r = 0; r < hosts.size(); ++r) {
    const std::size_t node = r / static_cast<std::size_t>(shape.ranks_per_node);
    const std::size_t start = node * static_cast<std::size_t>(shape.ranks_per_node);
    if (hosts[r] != hosts[start] || shape.ranks() != static_cast<int>(hosts.size()))
      throw InputError(
          fmt::format("rank {} is on {}: ranks must be placed node by node, equally many on each",
                      r, hosts[r]));
  }
  return shape;
}

std::vector<Observation> observations_of(const std::vector<MeasuredCollective>& rows,
                                         const ClusterSpec& cluster) {
  std::vector<Observation> result;
  for (const MeasuredCollective& row : rows) {
    Observation one;
    one.kind = row.kind;
    one.shape = shape_on(cluster, row.shape.ranks, row.shape.ranks_per_node);
    one.bytes = row.bytes;
    one.time = row.time;
    one.source = "measurements";
    result.push_back(std::move(one));
  }
  return result;
}

// A model and the network at the rates that it found.
struct Fitted {
  std::unique_ptr<CollectiveModel> model;
  std::unique_ptr<Network> network;
  void use(const ClusterSpec& cluster, std::unique_ptr<CollectiveModel> fitted) {
    model = std::move(fitted);
    network = std::make_unique<Network>(cluster, model->achievable());
  }
};

class Validation {
 public:
  Validation(const ValidationOptions& options, RankTeam& team)
      : options_(options), team_(team), shape_(options.shape) {}

  ValidationReport on_testbed(Testbed& testbed) {
    report_.machine = machine();
    cluster_ = testbed_cluster(shape_);
    fit();
    // The fit is the healthy machine's; what a slower uplink does is for the simulator to say.
    for (const auto& [node, rate] : shape_.uplinks) testbed.set_uplink(node, rate);
    perturbations_ = uplink_perturbations(shape_, *best().network);
    return compare();
  }

  ValidationReport on_hosts(int ranks, std::vector<std::string> names) {
    shape_.nodes = 1;
    shape_.ranks_per_node = ranks;
    const ExecTrace trial = execute(pilot(shape_, kPilot), options_.repetitions);
    if (names.empty()) names = team_.hosts();
    shape_ = shape_of(names);
    // Half of the step is the barriers; it is the order of magnitude that counts.
    scale_ = std::exp2(std::round(std::log2(kPilotTime / trial.step_time)));
    scale_ = std::clamp(scale_, 1.0, kLargestScale);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    report_.machine = fmt::format("{} nodes x {} ranks ({}), {}", shape_.nodes,
                                  shape_.ranks_per_node, fmt::join(names, ", "), options_.backend);
    adopt_cluster();
    fit();
    return compare();
  }

 private:
  void say(const std::string& what) const {
    if (options_.progress) options_.progress(what);
  }

  [[nodiscard]] std::string machine() const {
    std::string text =
        fmt::format("{} nodes x {} ranks, {} inside, {} between nodes", shape_.nodes,
                    shape_.ranks_per_node, to_text(shape_.intra), to_text(shape_.inter));
    for (const auto& [node, rate] : shape_.uplinks)
      text += fmt::format(", uplink of node {} {}", node, to_text(rate));
    return text;
  }

  // GPUs have a cluster description. Otherwise a rank is a "GPU" on a bus; what the links carry is
  // only known from the fit.
  void adopt_cluster() {
    shape_.intra = shape_.inter = gigabytes_per_second(1);
    cluster_ = options_.cluster ? *options_.cluster : testbed_cluster(shape_);
    cluster_.nodes = shape_.nodes;
    if (!options_.cluster || cluster_.node.gpus == shape_.ranks_per_node) return;
    throw InputError(Place{"command line", "--hosts"},
                     fmt::format("{} ranks on each node, but nodes of {} have {} GPUs",
                                 shape_.ranks_per_node, cluster_.name, cluster_.node.gpus));
  }

  void fit() {
    say("measuring collectives");
    const Benchmark benchmark = fit_benchmark(shape_, options_.quick, scale_);
    report_.benchmark = measurements(benchmark, execute(benchmark, options_.repetitions));
    const std::vector<MeasuredCollective>& rows = report_.benchmark;
    for (std::size_t i = 0; i < rows.size(); ++i)
      say(fmt::format("  {} of {}, {}: {}", name_of(rows[i].kind), human(rows[i].bytes),
                      benchmark.cases[i].group, human(rows[i].time)));
    calibration_.use(cluster_, calibrated_collective_model(
                                   fit_collectives(observations_of(rows, cluster_), cluster_)));
    if (options_.backend == "gloo") {
      auto ring = std::make_unique<RingModel>(rows);
      report_.fits = ring->fits();
      ring_.use(cluster_, std::move(ring));
    }
    const AchievableRates rates = best().model->achievable();
    if (options_.shape.intra > Bandwidth()) return;  // the testbed's are known
    shape_.intra = rates.gpu_intra;
    shape_.inter = shape_.nodes > 1 ? rates.nic : rates.gpu_intra;
  }

  ValidationReport compare() {
    compare_collectives();
    for (ValidationCase& one : validation_cases(shape_, cluster_, options_.quick, scale_))
      compare_schedule(std::move(one));
    report_.load = meter_.read();
    return std::move(report_);
  }

  ExecTrace execute(const Schedule& schedule, int steps) const {
    ExecJob job;
    job.schedule = schedule;
    job.options.backend = options_.backend;
    job.options.steps = steps;
    job.options.warmup = 1;
    job.options.timeout = options_.timeout;
    return team_.run(job);
  }

  [[nodiscard]] int repeats() const { return options_.quick ? 0 : kRepeats; }

  // Again while many rows are noisy.
  ExecTrace execute(const Benchmark& benchmark, int steps) const {
    ExecTrace trace = execute(benchmark.schedule, steps);
    for (int repeat = 0; repeat < repeats(); ++repeat) {
      std::size_t noisy = 0;
      for (const BenchmarkCase& one : benchmark.cases)
        noisy +=
            relative_spread(measured_durations(benchmark.schedule, trace, one.op)) > noisy_spread;
      if (static_cast<double>(noisy) < kNoisyShare * static_cast<double>(benchmark.cases.size()))
        break;
      say(fmt::format("{} of {} rows are noisy: measuring again", noisy, benchmark.cases.size()));
      trace = joined(std::move(trace), execute(benchmark.schedule, steps));
    }
    return trace;
  }

  // Again while the step time is noisy.
  ExecTrace execute_steadily(const Schedule& schedule) const {
    ExecTrace trace = execute(schedule, options_.steps);
    for (int repeat = 0; repeat < repeats() && relative_spread(trace.step_times) > noisy_spread;
         ++repeat) {
      say("  the step time is noisy: measuring again");
      trace = joined(std::move(trace), execute(schedule, options_.steps));
    }
    return trace;
  }

  [[nodiscard]] const Fitted& best() const { return ring_.model ? ring_ : calibration_; }

  [[nodiscard]] ReplayResult predict(const Schedule& schedule, const Fitted& fitted) const {
    const auto compute = load_compute_model("", cluster_.node.gpu);  // all durations are stated
    ReplayInput input{schedule, *fitted.network, *fitted.model, *compute};
    input.perturbations = perturbations_;
    ReplayOptions replay_options;
    replay_options.steps = kReplayedSteps;
    replay_options.fold_repeats = false;  // all records, as in the executed trace
    replay_options.folded = false;
    return replay(input, replay_options);
  }

  // As measured_duration(), of the last replayed step.
  static Seconds predicted_duration(const ReplayResult& result, OpId op) {
    std::vector<Seconds> durations;
    std::map<std::int64_t, Seconds> longest;
    for (const OpRecord& record : result.records)
      if (record.op == op && record.start >= result.period_start)
        longest[record.repetition] =
            std::max(longest[record.repetition], record.end - record.start);
    for (const auto& [repetition, duration] : longest) durations.push_back(duration);
    return median(std::move(durations));
  }

  void compare_collectives() {
    say("measuring collectives at other sizes and at once");
    const Benchmark test = test_benchmark(shape_, options_.quick, scale_);
    const ExecTrace trace = execute(test, options_.repetitions);
    const ReplayResult predicted = predict(test.schedule, best());
    const ReplayResult calibrated = predict(test.schedule, calibration_);
    std::vector<double> calibration_errors;
    for (const BenchmarkCase& one : test.cases) {
      const CollectivePart& part = *test.schedule.op(one.op).collective;
      const std::vector<Seconds> measured = measured_durations(test.schedule, trace, one.op);
      report_.collectives.push_back(
          {fmt::format("{} of {}, {}", name_of(part.kind), human(part.bytes), one.group),
           part.bytes,
           one.alone,
           {predicted_duration(predicted, one.op), median(measured), relative_spread(measured)}});
      if (!one.alone || !report_.counts(report_.collectives.back())) continue;
      calibration_errors.push_back(
          std::abs(predicted_duration(calibrated, one.op) / median(measured) - 1));
    }
    report_.calibration_error = median(std::move(calibration_errors));
  }

  // Sum of the compute ops of one step of rank 0.
  static Seconds busy(const Schedule& schedule) {
    Seconds total;
    for (const Block& block : schedule.blocks)
      for (OpId id : block.ops)
        for (const Kernel& kernel : schedule.op(id).kernels)
          total += kernel.duration * static_cast<double>(block.repeat);
    return total;
  }

  static std::string op_class(const Schedule& schedule, const Op& op) {
    return fmt::format("{} {}", name_of(op.collective->kind),
                       schedule.communicators[op.collective->communicator.position()].name);
  }

  void compare_schedule(ValidationCase one) {
    say(one.name);
    ValidatedSchedule result;
    result.name = one.name;
    result.schedule = std::move(one.schedule);
    result.predicted = predict(result.schedule, best());
    result.executed = execute_steadily(result.schedule);
    result.step = {result.predicted.step_time, result.executed.step_time,
                   relative_spread(result.executed.step_times)};
    report_.calibration_step_error = std::max(
        report_.calibration_step_error,
        std::abs(predict(result.schedule, calibration_).step_time / result.step.measured - 1));
    const Seconds computing = busy(result.schedule);
    result.exposed = {result.step.predicted - computing, result.step.measured - computing};
    std::map<std::string, std::pair<std::vector<Seconds>, std::vector<Seconds>>> durations;
    for (std::size_t i = 0; i < result.schedule.ops.size(); ++i) {
      const Op& op = result.schedule.ops[i];
      if (!op.collective) continue;
      auto& [predicted, measured] = durations[op_class(result.schedule, op)];
      predicted.push_back(predicted_duration(result.predicted, OpId(i)));
      measured.push_back(measured_duration(result.schedule, result.executed, OpId(i)));
    }
    for (auto& [name, both] : durations)
      result.collectives[name] = {median(both.first), median(both.second)};
    report_.schedules.push_back(std::move(result));
  }

  const ValidationOptions& options_;
  RankTeam& team_;
  TestbedShape shape_;
  double scale_ = 1;
  ClusterSpec cluster_;
  Fitted ring_, calibration_;
  Perturbations perturbations_;
  ValidationReport report_;
  LoadMeter meter_;
};

}  // namespace

bool ValidationReport::counts(const ValidatedCollective& one) { return one.bytes > Bytes(262144); }

double ValidationReport::median_collective_error(bool alone) const {
  std::vector<double> errors;
  for (const ValidatedCollective& one : collectives)
    if (one.alone == alone && counts(one)) errors.push_back(std::abs(one.time.error()));
  return median(std::move(errors));
}

double ValidationReport::largest_step_error() const {
  double largest = 0;
  for (const ValidatedSchedule& one : schedules)
    largest = std::max(largest, std::abs(one.step.error()));
  return largest;
}

std::string ValidationReport::broken_order() const {
  constexpr double kSameTime = 0.02;
  for (const ValidatedSchedule& a : schedules)
    for (const ValidatedSchedule& b : schedules) {
      const double tie = std::max(kSameTime, a.step.spread + b.step.spread);
      if (a.step.measured < b.step.measured * (1 - tie) && a.step.predicted > b.step.predicted)
        return fmt::format("\"{}\" was faster than \"{}\", but is predicted slower", a.name,
                           b.name);
    }
  return "";
}

ValidationReport validate_on_testbed(const ValidationOptions& options) {
  if (options.progress) options.progress("building the testbed");
  Testbed testbed(options.testbed_name, options.shape);
  const auto team = local_team({testbed.namespaces()});
  return Validation(options, *team).on_testbed(testbed);
}

ValidationReport validate_on_hosts(const ValidationOptions& options, RankTeam& team, int ranks,
                                   std::vector<std::string> names) {
  return Validation(options, team).on_hosts(ranks, std::move(names));
}

}  // namespace amsp
