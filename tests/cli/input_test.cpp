// SPDX-License-Identifier: Apache-2.0
// What is refused, when, and in which words: perturbations, paths, sweeps, second jobs.
#include <fstream>

#include "base/json_value.hpp"
#include "base/units_text.hpp"
#include "program.hpp"

using namespace amsp;
using namespace amsp::program;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

void put(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }

const char* const kModel = R"({"layers": 2, "hidden": 1024, "heads": 16, "intermediate": 2816,
    "vocabulary": 8000})";

std::string scenario(const std::string& more) {
  return R"({"cluster": "a800-4hdr", "gpus": 8, "training": {"sequence_length": 512,
      "global_batch": 16}, "strategy": "zero1", )" +
         more + "}";
}

// One op a step, of one kernel, on each of the ranks.
std::string schedule_of(int ranks, const std::string& kernel) {
  return R"({"name": "one", "world": )" + std::to_string(ranks) +
         R"(, "streams": [{"name": "compute", "compute": true}],
      "blocks": [{"name": "step", "repeat": 1, "ops": [{"name": "work",
      "stream": "compute", "kernels": [)" +
         kernel + "]}]}]}";
}

// It takes the given time.
std::string schedule(int ranks, const std::string& time) {
  return schedule_of(ranks, R"({"kind": "fixed", "duration": ")" + time + "\"}");
}

}  // namespace

TEST_CASE("factors that make no sense are refused with the accepted range") {
  for (const char* flag : {"--kernel-jitter nan", "--kernel-jitter inf", "--link-jitter -1",
                           "--link-jitter nan", "--kernel-jitter 1e9"}) {
    const Outcome run = amsp_run("simulate " + small_step + flag);
    CHECK(run.status == 2);
    CHECK_THAT(run.err, Contains("from 0 to 1"));
  }
  for (const char* flag : {"--degrade node1/mlx5_0=inf", "--degrade node1/mlx5_0=2",
                           "--degrade node1/mlx5_0=0", "--slow-gpu 3=inf", "--slow-gpu 3=2"}) {
    const Outcome run = amsp_run("simulate " + small_step + flag);
    CHECK(run.status == 2);
    CHECK_THAT(run.err, Contains("between 0.000001 and 1"));
    CHECK(run.out.empty());
  }
  CHECK_THAT(amsp_run("simulate " + small_step + "--fail node1/mlx5_0").out,
             Contains("node1/mlx5_0 is down from the start"));
  CHECK_THAT(amsp_run("simulate " + small_step + "--placement paked").err,
             Contains("did you mean \"packed\""));
}

TEST_CASE("repetitions give means with intervals and say how many") {
  const Outcome run =
      amsp_run("simulate " + small_step + "--kernel-jitter 0.05 --repetitions 4 --format json");
  REQUIRE(run.status == 0);
  const JsonValue json = JsonValue::parse_text(run.out, "stdout");
  CHECK(json.at("repetitions").as_integer(1, 99) == 4);
  const auto interval = json.at("exposed_communication_interval_s").at("total").items();
  const double mean = json.at("exposed_communication_s").at("total").as_number(0, 1e9);
  CHECK(interval[0].as_number(-1e9, 1e9) < mean);
  CHECK(interval[1].as_number(0, 1e9) > mean);
  const Outcome one = amsp_run("simulate " + small_step + "--repetitions 4 --format json");
  CHECK(JsonValue::parse_text(one.out, "stdout").at("repetitions").as_integer(1, 99) == 1);
}

TEST_CASE("results that could not be written are refused before the run, by the path as given") {
  const Folder folder;
  const fs::path file = folder.path / "file";
  put(file, "");
  for (const char* command : {"simulate", "sweep"}) {
    const std::string words = std::string(command) + " " +
                              (std::string(command) == "sweep" ? "paper-7b-amsp" : small_step);
    const Outcome run = amsp_run(words + " -o " + (file / "below" / "deeper").string());
    CHECK(run.status == 2);
    CHECK_THAT(run.err, Contains("below/deeper") && Contains("is a file, not a folder"));
    CHECK_THAT(run.err, !Contains(".part"));
  }
  const Outcome html = amsp_run("simulate " + small_step + " --html " + folder.path.string());
  CHECK(html.status == 2);
  CHECK_THAT(html.err, Contains("is a folder"));
  CHECK(html.out.empty());
  const fs::path deep = folder.path / "a" / "b";
  CHECK(amsp_run("simulate " + small_step + " -o " + deep.string()).status == 0);
  CHECK(fs::exists(deep / "results.json"));
}

TEST_CASE("a page may lie in the folder that the command makes for its results, and in no other") {
  const Folder folder;
  const std::string words = "simulate " + small_step;
  const std::string to = " -o " + (folder.path / "res").string();
  const auto page = [&folder](const std::string& name) {
    return " --html " + (folder.path / name).string();
  };
  for (const std::string& other :
       {to + page("rest/page.html"), page("res/page.html"), to + page("res/../no/page.html")}) {
    const Outcome run = amsp_run(words + other);
    CHECK(run.status == 2);
    CHECK_THAT(run.err, Contains("there is no folder"));
  }
  CHECK_FALSE(fs::exists(folder.path / "res"));
  CHECK(amsp_run(words + page("res/pages/page.html") + to + "/").status == 0);
  CHECK(fs::exists(folder.path / "res/pages/page.html"));
  CHECK(fs::exists(folder.path / "res/results.json"));
}

TEST_CASE("the plan's lists and reserve are refused by option, word and what is accepted") {
  const std::string plan = "plan --model llama-7b --cluster a800-4hdr --global-batch 8 ";
  for (const char* none : {"0tokens", "0.5tokens", "-1tokens", "300"}) {
    const Outcome run = amsp_run(plan + "--gpus 8 --tokens " + none);
    CHECK(run.status == 2);
    CHECK_THAT(run.err, Contains("--tokens: "));
    CHECK(run.out.empty());
  }
  for (const auto& [flags, word] : {std::pair{"1,a", "\"a\""},
                                    {"1,,2", "\"\""},
                                    {"1.5", "\"1.5\""},
                                    {"2x", "\"2x\""},
                                    {"0", "\"0\""},
                                    {"99999999999999999999", "\"99999999999999999999\""}}) {
    const Outcome run = amsp_run(plan + "--micro-batch " + flags);
    CHECK(run.status == 2);
    CHECK_THAT(run.err, Contains("--micro-batch: ") && Contains(word) &&
                            Contains("whole numbers from 1 to 1048576"));
    CHECK(run.out.empty());
  }
  const Outcome reserve = amsp_run(plan + "--memory-reserve 500GiB");
  CHECK(reserve.status == 2);
  CHECK_THAT(reserve.err, Contains("--memory-reserve: 500 GiB leaves nothing of the 80 GiB"));
  const Outcome run = amsp_run("simulate paper-7b-amsp --set training.memory_reserve=500GiB");
  CHECK(run.status == 2);
  CHECK_THAT(run.err, Contains("training.memory_reserve: 500 GiB leaves nothing of the 80 GiB"));
}

TEST_CASE("explain says that it shows one of a scenario's repetitions") {
  const Folder folder;
  put(folder.path / "model.json", kModel);
  const auto explained = [&](const std::string& perturbations) {
    put(folder.path / "s.json",
        scenario(R"("model": "model.json", "perturbations": )" + perturbations));
    return amsp_run("explain " + (folder.path / "s.json").string());
  };
  const Outcome random = explained(R"({"kernel_jitter": 0.05, "repetitions": 4, "seed": 7})");
  REQUIRE(random.status == 0);
  CHECK_THAT(random.err, Contains("first of the scenario's 4 repetitions (seed 7)"));
  // Nothing is random: one says it all.
  const Outcome fixed = explained(R"({"repetitions": 4})");
  REQUIRE(fixed.status == 0);
  CHECK_THAT(fixed.err, !Contains("repetitions"));
}

TEST_CASE("paths in a scenario are relative to it, and errors name its file and key") {
  const Folder folder;
  fs::create_directories(folder.path / "inner");
  put(folder.path / "inner" / "mine.json", kModel);
  put(folder.path / "inner" / "good.json", scenario(R"("model": "mine.json")"));
  put(folder.path / "inner" / "bad.json", scenario(R"("model": "./missing.json")"));
  put(folder.path / "inner" / "worse.json",
      scenario(R"("model": "mine.json", "calibration": "nowhere.json")"));
  const std::string inner = (folder.path / "inner").string();
  CHECK(amsp_run("simulate " + inner + "/good.json").status == 0);
  const Outcome bad = amsp_run("simulate " + inner + "/bad.json");
  CHECK(bad.status == 2);
  CHECK_THAT(bad.err, Contains("inner/bad.json") && Contains("/model") &&
                          Contains("inner/missing.json") && Contains("no such model file"));
  CHECK_THAT(amsp_run("simulate " + inner + "/worse.json").err,
             Contains("inner/worse.json") && Contains("/calibration"));
  // --set is relative to where the program runs.
  const Outcome set = amsp_run("simulate " + inner + "/bad.json --set model=inner/mine.json",
                               "cd " + folder.path.string() + " &&");
  CHECK(set.status == 0);
  // Whole numbers may be written as 1e3.
  put(folder.path / "inner" / "e.json",
      R"({"cluster": "a800-4hdr", "gpus": 8e0, "model": "mine.json", "strategy": "zero1",
          "training": {"sequence_length": 1e3, "global_batch": 1.6e1}})");
  CHECK(amsp_run("simulate " + inner + "/e.json").status == 0);
}

TEST_CASE("a sweep's exit status says whether its points ran, and gpus is one column") {
  const Folder folder;
  const std::string sweep =
      "sweep paper-7b-amsp --set training.global_batch=16 "
      "--set training.sequence_length=512 -o ";
  const Outcome some =
      amsp_run(sweep + (folder.path / "some").string() + " --over gpus=8,16,24 -j 2");
  CHECK(some.status == 1);  // 24 ranks do not divide 16 sequences
  CHECK_THAT(some.err, Contains("1 of 3 points cannot run"));
  CHECK(some.out.find("gpus") == some.out.rfind("gpus"));
  CHECK(amsp_run(sweep + (folder.path / "none").string() + " --over gpus=24").status == 2);
  CHECK(amsp_run(sweep + (folder.path / "x").string() + " --over gpus=8 --over gpus=16").status ==
        2);
}

TEST_CASE("a sweep splits by the rank of srun or mpirun and merges to the same bytes") {
  const Folder folder;
  const std::string sweep =
      "sweep paper-7b-amsp --over strategy=zero1,zero2,zero3 --set gpus=8 "
      "--set training.global_batch=16 --set training.sequence_length=512 -o ";
  const std::string whole = (folder.path / "whole").string();
  REQUIRE(amsp_run(sweep + whole + " -j 3").status == 0);
  for (const auto& [rank, size] : {std::pair{"SLURM_PROCID", "SLURM_NTASKS"},
                                   {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}}) {
    const std::string parts = (folder.path / rank).string();
    for (const char* part : {"1", "0"}) {
      const Outcome run =
          amsp_run(sweep + parts, std::string(rank) + "=" + part + " " + size + "=2");
      CHECK(run.status == 0);
      CHECK_THAT(run.err, Contains(std::string("part ") + part + "/2 by " + rank));
      CHECK(fs::exists(parts + "/results.json") == (std::string(part) == "0"));
    }
    CHECK(read_file(parts + "/results.json") == read_file(whole + "/results.json"));
    CHECK(read_file(parts + "/results.csv") == read_file(whole + "/results.csv"));
  }
}

TEST_CASE("a second job that takes no time and absurd times are refused") {
  const Folder folder;
  const std::string at = folder.path.string();
  put(folder.path / "work.json", schedule(8, "1ms"));
  put(folder.path / "none.json", schedule(8, "0s"));
  put(folder.path / "tiny.json", schedule(8, "1e-300s"));
  const std::string replay = "replay --cluster a800-4hdr " + at;
  CHECK_THAT(amsp_run(replay + "/work.json").out, Contains("fits"));
  CHECK_THAT(amsp_run(replay + "/work.json --beside " + at + "/none.json").err,
             Contains("takes no time"));
  const Outcome tiny = amsp_run(replay + "/tiny.json");
  CHECK(tiny.status == 2);
  CHECK_THAT(tiny.err, Contains("\"work\"") && Contains("1e-12s"));
}

TEST_CASE("exec times kernels by a calibration, a cluster, or the one that the other names") {
  const Folder folder;
  const std::string file = (folder.path / "gemm.json").string();
  put(file, schedule_of(1, R"({"kind": "gemm", "m": 4096, "n": 4096, "k": 4096})"));
  const auto step_time = [&](const std::string& flags) {
    const Outcome run = amsp_run("exec " + file + " --nproc 1 --warmup 0 --steps 1 " + flags +
                                 " -o " + (folder.path / "trace.json").string());
    INFO(run.err);
    REQUIRE(run.status == 0);
    const JsonValue trace = JsonValue::parse_file(folder.path / "trace.json");
    return parse_seconds(trace.at("step_time").as_string()).value();
  };
  const double both = step_time("--cluster a800-4hdr --calibration a800-4hdr");
  CHECK(step_time("--cluster a800-4hdr") == Approx(both).epsilon(1e-4));
  CHECK(step_time("--calibration a800-4hdr") == Approx(both).epsilon(1e-4));
  CHECK(step_time("--cluster dgx-h100 --calibration ''") < both / 2);  // as that type does
  const Outcome neither = amsp_run("exec " + file + " --nproc 1");
  CHECK(neither.status == 2);
  CHECK_THAT(neither.err, Contains("give --calibration (or a cluster) to time it"));
}

TEST_CASE("validate refuses where nothing can be written before it measures") {
  const Folder folder;
  put(folder.path / "file", "");
  const std::string file = (folder.path / "file").string();
  for (const auto& [flags, reason] :
       {std::pair{"--timeline " + folder.path.string(), "is a folder, not a file"},
        {"--save-measurements " + file, "is a file, not a folder"}}) {
    // Without these ranks: what is refused first is the path.
    const Outcome run = amsp_run("validate --hosts localhost:1 --backend nccl " + flags);
    CHECK(run.status == 2);
    CHECK_THAT(run.err, Contains(reason));
  }
}

TEST_CASE("published values stand beside the published job only") {
  const auto simulated = [](const std::string& options) {
    return amsp_run("simulate paper-7b-amsp --format json " + options);
  };
  const auto compared = [](const Outcome& run) {
    REQUIRE(run.status == 0);
    return JsonValue::parse_text(run.out, "stdout").find("reference").has_value();
  };
  const Outcome published = simulated("--gpus 8 --set compute_efficiency=0.95 --seed 4");
  CHECK(compared(published));
  CHECK(published.err.empty());
  CHECK_FALSE(compared(simulated("--gpus 256")));  // nobody published it
  for (const auto& [option, key] : {std::pair{"--set strategy=zero2", "strategy"},
                                    {"--set training.recompute=full", "training"},
                                    {"--slow-gpu 3=0.5", "--slow-gpu"}}) {
    const Outcome changed = simulated(std::string("--gpus 8 ") + option);
    INFO(option);
    CHECK_FALSE(compared(changed));
    CHECK_THAT(changed.err, Contains(std::string("another job (changed: ") + key + ")"));
  }
}

TEST_CASE("what the figures do not say is said in every format") {
  const std::string job = " --set compute_efficiency=5 --set model=gpt2 ";
  const std::string plan =
      "plan --model llama-3.2-1b --cluster a800-4hdr --gpus 8 --global-batch 8 --micro-batch 1 "
      "--seq-len 65536 --recompute full --top 1 ";
  for (const auto& [command, remark] : {std::pair{"simulate paper-7b-amsp --gpus 8" + job,
                                                  "impossible: the kernels of a step need"},
                                        {plan, "the fast end of the interval is cut at"}}) {
    INFO(command);
    CHECK_THAT(amsp_run(command).out, Contains(remark));
    CHECK_THAT(amsp_run(command + "--format json").out, Contains(remark));
    const Outcome csv = amsp_run(command + "--format csv");
    CHECK_THAT(csv.err, Contains(remark));
    CHECK_FALSE(csv.out.find(remark) != std::string::npos);
  }
}
