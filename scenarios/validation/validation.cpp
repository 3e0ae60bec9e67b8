// SPDX-License-Identifier: Apache-2.0
#include "scenarios/validation/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/error.hpp"
#include "base/units_text.hpp"
#include "exec/launch.hpp"
#include "scenarios/validation/benchmark.hpp"
#include "scenarios/validation/cases.hpp"
#include "scenarios/validation/testbed_cluster.hpp"

namespace amsp {
namespace {

constexpr int kReplayedSteps = 4;

class Validation {
 public:
  explicit Validation(const ValidationOptions& options)
      : options_(options), cluster_(testbed_cluster(options.shape)) {}

  ValidationReport run() {
    report_.machine = machine();
    say("building the testbed");
    Testbed testbed(options_.testbed_name, options_.shape);
    places_.namespaces = testbed.namespaces();
    say("measuring collectives");
    const Benchmark fit = fit_benchmark(options_.shape, options_.quick);
    const std::vector<MeasuredCollective> rows =
        measurements(fit, execute(fit.schedule, options_.repetitions));
    for (std::size_t i = 0; i < rows.size(); ++i)
      say(fmt::format("  {} of {}, {}: {}", name_of(rows[i].kind), human(rows[i].bytes),
                      fit.cases[i].group, human(rows[i].time)));
    model_ = std::make_unique<RingModel>(rows);
    report_.fits = model_->fits();
    network_ = std::make_unique<Network>(cluster_, model_->achievable());
    // The fit is the healthy machine's; what a slower uplink does is for the simulator to say.
    degrade(testbed);
    compare_collectives();
    for (ValidationCase& one : validation_cases(options_.shape, cluster_, options_.quick))
      compare_schedule(std::move(one));
    return std::move(report_);
  }

 private:
  void say(const std::string& what) const {
    if (options_.progress) options_.progress(what);
  }

  [[nodiscard]] std::string machine() const {
    const TestbedShape& shape = options_.shape;
    std::string text =
        fmt::format("{} nodes x {} ranks, {} inside, {} between nodes", shape.nodes,
                    shape.ranks_per_node, to_text(shape.intra), to_text(shape.inter));
    for (const auto& [node, rate] : shape.uplinks)
      text += fmt::format(", uplink of node {} {}", node, to_text(rate));
    return text;
  }

  void degrade(Testbed& testbed) {
    for (const auto& [node, rate] : options_.shape.uplinks) testbed.set_uplink(node, rate);
    perturbations_ = uplink_perturbations(options_.shape, *network_);
  }

  ExecTrace execute(const Schedule& schedule, int steps) const {
    ExecJob job;
    job.schedule = schedule;
    job.options.steps = steps;
    job.options.warmup = 1;
    job.options.timeout = options_.timeout;
    return run_local(job, places_);
  }

  ReplayResult predict(const Schedule& schedule) const {
    const auto compute = load_compute_model("", cluster_.node.gpu);  // all durations are stated
    ReplayInput input{schedule, *network_, *model_, *compute};
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
    const Benchmark test = test_benchmark(options_.shape, options_.quick);
    const ExecTrace trace = execute(test.schedule, options_.repetitions);
    const ReplayResult predicted = predict(test.schedule);
    for (const BenchmarkCase& one : test.cases) {
      const CollectivePart& part = *test.schedule.op(one.op).collective;
      report_.collectives.push_back(
          {fmt::format("{} of {}, {}", name_of(part.kind), human(part.bytes), one.group),
           part.bytes,
           one.alone,
           {predicted_duration(predicted, one.op),
            measured_duration(test.schedule, trace, one.op)}});
    }
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
    result.predicted = predict(result.schedule);
    result.executed = execute(result.schedule, options_.steps);
    result.step = {result.predicted.step_time, result.executed.step_time};
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
  ClusterSpec cluster_;
  LocalPlaces places_;
  std::unique_ptr<RingModel> model_;
  std::unique_ptr<Network> network_;
  Perturbations perturbations_;
  ValidationReport report_;
};

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace

double ValidationReport::median_collective_error() const {
  std::vector<double> errors;
  for (const ValidatedCollective& one : collectives)
    if (one.alone && one.bytes > Bytes(262144)) errors.push_back(std::abs(one.time.error()));
  return median_of(std::move(errors));
}

double ValidationReport::largest_step_error() const {
  double largest = 0;
  for (const ValidatedSchedule& one : schedules)
    largest = std::max(largest, std::abs(one.step.error()));
  return largest;
}

std::string ValidationReport::broken_order(double tolerance) const {
  for (const ValidatedSchedule& a : schedules)
    for (const ValidatedSchedule& b : schedules)
      if (a.step.measured < b.step.measured * (1 - tolerance) &&
          a.step.predicted > b.step.predicted)
        return fmt::format("\"{}\" was faster than \"{}\", but is predicted slower", a.name,
                           b.name);
  return "";
}

ValidationReport validate_on_testbed(const ValidationOptions& options) {
  return Validation(options).run();
}

}  // namespace amsp
