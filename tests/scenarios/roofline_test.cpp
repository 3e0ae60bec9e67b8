#include "scenarios/roofline.hpp"

#include <catch2/catch.hpp>

#include "workloads/generator.hpp"
#include "workloads/model_stages.hpp"

using namespace amsp;
using Catch::Contains;

namespace {

RunResult run_of(const std::vector<std::string>& settings) {
  std::vector<std::string> all{"training.global_batch=8", "model.layers=2"};
  all.insert(all.begin(),
             R"(model={"layers": 2, "hidden": 4096, "heads": 32, "intermediate": 11008,
                      "vocabulary": 32000})");
  all.insert(all.end(), settings.begin(), settings.end());
  return run_scenario(load_scenario("paper-7b-amsp", all), 8, {});
}

// Megatron's formula with causal attention halved, times what recompute adds, over the peak.
Seconds by_formula(std::int64_t sequence, bool full_recompute) {
  const double h = 4096, f = 11008, v = 32000, layers = 2;
  const auto s = static_cast<double>(sequence);
  const double linear = 2 * s * (4 * h * h + 3 * h * f), head = 2 * s * h * v;
  const double attention = 2 * s * s * h;  // half of 4 s^2 h
  const double forward = layers * (linear + attention);
  // Backward: twice the matrices; five products of attention where forward has two.
  const double backward = layers * (2 * linear + 2.5 * attention);
  return Seconds((forward * (full_recompute ? 2 : 1) + backward + 3 * head) / 312e12);
}

bool notes_say(const RunResult& run, const std::string& text) {
  for (const std::string& note : run.notes)
    if (note.find(text) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("the roofline is the formula's FLOPs at the data sheet's peak") {
  for (const bool full : {false, true})
    for (const std::int64_t sequence : {1024, 65536}) {
      const RunResult run = run_of({"training.sequence_length=" + std::to_string(sequence),
                                    std::string("training.recompute=") + (full ? "full" : "none")});
      const Seconds bound = roofline_time(run.schedule, load_cluster("a800-4hdr").node.gpu);
      INFO(sequence << " tokens, full recompute " << full);
      CHECK(bound.value() == Approx(by_formula(sequence, full).value()).epsilon(1e-12));
      CHECK(run.step_time >= bound);
    }
}

TEST_CASE("no interval reaches beyond the data sheet, and what is beyond it is said") {
  const ClusterSpec cluster = load_cluster("a800-4hdr");
  SECTION("far outside the kernel table the interval is cut") {
    const RunResult run = run_of({"training.sequence_length=131072"});
    CHECK(run.step_time_low == roofline_time(run.schedule, cluster.node.gpu));
    CHECK(run.step_time_low < run.step_time);
    CHECK(notes_say(run, "8 GPUs: the fast end of the interval is cut at"));
  }
  SECTION("inside it nothing is cut and nothing said") {
    const RunResult run = run_of({"training.sequence_length=4096"});
    CHECK(run.step_time_low > roofline_time(run.schedule, cluster.node.gpu));
    CHECK(run.notes.empty());
  }
  SECTION("a compute efficiency that no GPU can have") {
    const RunResult run = run_of({"training.sequence_length=4096", "compute_efficiency=8"});
    CHECK(run.step_time < roofline_time(run.schedule, cluster.node.gpu));
    CHECK(run.step_time_low == run.step_time);
    CHECK(run.step_time_high > run.step_time);
    CHECK(notes_say(run, "8 GPUs: impossible: the kernels of a step need"));
  }
  SECTION("the formula's attention, not the GPU, is above 1") {
    const RunResult run = run_of({"training.sequence_length=262144", "compute_efficiency=1.2"});
    REQUIRE(run.mfu > 1);
    CHECK(run.step_time > roofline_time(run.schedule, cluster.node.gpu));
    CHECK(notes_say(run, "is above 1 because its formula counts all of the attention"));
  }
}

TEST_CASE("a step time of which next to nothing is known says so") {
  const RunResult far = run_of(
      {R"(model={"layers": 2, "hidden": 16, "heads": 4, "intermediate": 16, "vocabulary": 10})",
       "training.sequence_length=1"});
  CHECK(far.step_time_high > far.step_time_low * 20);
  CHECK(notes_say(far, "8 GPUs: the interval spans more than a factor of 1000, hardly"));
  CHECK_FALSE(notes_say(run_of({"training.sequence_length=4096"}), "hardly a prediction"));
}

TEST_CASE("a type that the data sheet does not list cannot raise the bound") {
  GpuSpec gpu = load_cluster("a800-4hdr").node.gpu;
  const RunResult run = run_of({"training.sequence_length=1024"});
  const Seconds bound = roofline_time(run.schedule, gpu);
  gpu.peak.erase(Dtype::bf16);  // int8 is the largest that is left, twice the rate
  CHECK(roofline_time(run.schedule, gpu).value() == Approx(bound.value() / 2));
  gpu.peak.clear();
  CHECK(roofline_time(run.schedule, gpu) == Seconds(0));
}
