// SPDX-License-Identifier: Apache-2.0
// What is easily done wrong on a first day is said, not ignored.
#include "program.hpp"

using namespace amsp;
using namespace amsp::program;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

const char* const kModel =
    R"({"layers": 2, "hidden": 64, "heads": 4, "intermediate": 128, "vocabulary": 256})";

void refused(const std::string& arguments, const std::string& word) {
  INFO(arguments);
  const Outcome run = amsp_run(arguments);
  CHECK(run.status == 2);
  CHECK_THAT(run.err, Contains(word));
  CHECK(run.out.empty());
}

}  // namespace

TEST_CASE("a config.json in the folder where one works is named by that folder") {
  const Folder folder;
  const fs::path model = folder.path / "my-model";
  fs::create_directories(model / "inner");
  write_file(model / "config.json", kModel);
  const auto description = [](const fs::path& from, const std::string& file) {
    const Outcome run =
        amsp_run("init --cluster dgx-a100 --gpus 8 --model " + file, "cd " + from.string() + " &&");
    REQUIRE(run.status == 0);
    return run.out;
  };
  for (const char* file : {"./config.json", "config.json", "inner/../config.json"})
    CHECK_THAT(description(model, file), Contains("\"my-model on 8 GPUs"));
  CHECK_THAT(description(model / "inner", "../config.json"), Contains("\"my-model on 8 GPUs"));
}

TEST_CASE("init overwrites a file only when asked to") {
  const Folder folder;
  const std::string file = (folder.path / "mine.json").string();
  write_file(file, "mine");
  refused("init --gpus 8 -o " + file, "--force");
  CHECK(read_file(file) == "mine");
  CHECK(amsp_run("init --gpus 8 --force -o " + file).status == 0);
  CHECK(read_file(file) != "mine");
}

TEST_CASE("explain says what simulate says of a step that does not fit") {
  const std::string step =
      " paper-7b-amsp --gpus 8 --set training.global_batch=8 --set training.memory_reserve=60GiB";
  const std::string simulated = amsp_run("simulate" + step).out;
  const auto from = simulated.find("8 GPUs: does not fit; ");
  REQUIRE(from != std::string::npos);
  const std::string line = simulated.substr(from, simulated.find('\n', from) - from);
  const std::string explained = amsp_run("explain" + step).out;
  CHECK_THAT(explained, Contains(line));
  CHECK_THAT(explained, !Contains("-0.0 %"));
}

TEST_CASE("options that would be ignored are refused") {
  refused("validate --testbed 2x2 --hosts localhost:2", "--testbed");
  refused("validate --uplink 0=1mbit --hosts localhost:2", "--uplink");
  refused("validate --cluster dgx-a100", "needs --hosts");
  const Folder folder;
  const std::string traces = (folder.path / "traces").string();
  refused("schedule paper-7b-amsp --format chakra --gpus 8 --ranks 9 -o " + traces,
          "9 ranks, but the step has 8");
  CHECK_FALSE(fs::exists(traces));
  refused("schedule paper-7b-amsp --gpus 8 --ranks 4", "--format chakra");
}

TEST_CASE("exec: no time to wait is refused, and a missing backend is said first") {
  refused("exec paper-7b-amsp --timeout 0s", "--timeout");
  const Outcome run = amsp_run("exec paper-7b-amsp --gpus 1000 --backend nccl");
  CHECK(run.status == 2);
  if (run.err.find("built without") != std::string::npos)
    CHECK_THAT(run.err, Contains("backend nccl: "));
}

TEST_CASE("who writes a file says so in one form; plan says that it enlarged the cluster") {
  const Folder folder;
  const std::string out = (folder.path / "out").string();
  for (const std::string& command :
       {"simulate " + small_step, "schedule " + small_step,
        std::string("sweep paper-7b-amsp --over gpus=8 --set training.global_batch=8 ")}) {
    const std::string to = out + command.substr(0, 5);
    const Outcome run = amsp_run(command + " -o " + to);
    CHECK(run.status == 0);
    CHECK_THAT(run.err, Contains("amsp: wrote " + to));
  }
  // The plan itself is refused later, for want of time in a test.
  const std::string plan = "plan --model llama-7b --cluster l40s-8gpu-pcie --recompute no ";
  CHECK_THAT(amsp_run(plan + "--gpus 64 --global-batch 64").err,
             Contains("more than the 32 GPUs") && Contains("enlarged"));
  CHECK_THAT(amsp_run(plan + "--gpus 32 --global-batch 64").err, !Contains("enlarged"));
}

TEST_CASE("file names that are no UTF-8 are no internal error") {
  const Folder folder;
  const fs::path scenario = folder.path / "sc\xe9n.json";
  write_file(scenario,
             R"({"cluster": "dgx-a100", "gpus": 8, "model": "llama-7b", "strategy": "zero1",
                          "training": {"global_batch": 64}})");
  for (const char* format : {"table", "json"})
    CHECK(amsp_run("simulate '" + scenario.string() + "' --format " + format).status == 0);
}

TEST_CASE("a cluster that names a calibration is predicted with it, and without on demand") {
  const std::string question =
      "collective --kind all_reduce --bytes 1GiB --gpus 64 --cluster a800-4hdr --format json";
  CHECK_THAT(amsp_run(question).out, Contains("\"measured range\""));
  CHECK_THAT(amsp_run(question + " --calibration ''").out, Contains("\"default\""));
  const std::string plan =
      "plan --model llama-7b --cluster a800-4hdr --gpus 8 --global-batch 64 --seq-len 4096 "
      "--recompute none --micro-batch 1 --top 1 --format json";
  CHECK(amsp_run(plan).out == amsp_run(plan + " --calibration a800-4hdr").out);
}

TEST_CASE("collective: a group that cannot be, a size without a unit, a figure without a log") {
  const Folder folder;
  const std::string figure = (folder.path / "zz.svg").string();
  const std::string question = "collective --kind all_reduce --cluster dgx-h100 ";
  refused(question + "--bytes 1GiB --gpus 16 -o " + figure, "needs a LOG");
  CHECK_FALSE(fs::exists(figure));
  refused(question + "--bytes 1GiB --gpus 2 --gpus-per-node 3", "--gpus-per-node is 3");
  refused(question + "--bytes 16777216 --gpus 16", "16777216B");
  CHECK_THAT(amsp_run(question + "--bytes 1GiB --gpus 100000").err, Contains("enlarged"));
  CHECK_THAT(amsp_run(question + "--bytes 1GiB --gpus 256").err, !Contains("enlarged"));
}

TEST_CASE("a switch that cannot act is noted, by simulate as by schedule") {
  for (const std::string command : {"simulate ", "schedule ", "explain "}) {
    const auto outcome = amsp_run(command + small_step +
                                  R"(--set 'strategy={"preset":"ddp","overlap_broadcast":true}')");
    INFO(command);
    CHECK(outcome.status == 0);
    CHECK_THAT(outcome.out + outcome.err,
               Contains("strategy.overlap_broadcast changes nothing in this job"));
  }
}

TEST_CASE("a log of another machine is warned of; one of a job that died says of what") {
  const Folder folder;
  const auto log_of = [&](const std::string& gpu) {
    const std::string log = (folder.path / (gpu + ".csv")).string();
    write_file(log, "collective,gpus,nodes,gpu,message_bytes,time_us\nall_reduce,16,2," + gpu +
                        ",1048576,80\nall_reduce,16,2," + gpu + ",16777216,250\n");
    return "'" + log + "' -o " + (folder.path / "figure.svg").string();
  };
  const std::string compare = "collective --cluster dgx-a100 ";
  CHECK_THAT(amsp_run(compare + log_of("NVIDIA H100 80GB HBM3")).err,
             Contains("warning: ") && Contains("but the GPUs of dgx-a100 are"));
  CHECK_THAT(amsp_run(compare + log_of("NVIDIA A100-SXM4-80GB")).err, !Contains("calibrated on"));
  CHECK_THAT(amsp_run(compare + "--calibration a800-4hdr " + log_of("NVIDIA A100-SXM4-80GB")).err,
             Contains("warning: collectives calibrated on a800-4hdr, used on dgx-a100"));
  const std::string dead = (folder.path / "all_reduce.txt").string();
  write_file(dead,
             "# nThread 1 nGpus 2 minBytes 1024 maxBytes 1024 step: 2(factor) warmup iters: 5 "
             "iters: 20 agg iters: 1 validation: 1 graph: 0\n#\n# Using devices\n"
             "#  Rank  0 Group  0 Pid   1001 on     host-a device  0 [0x01] NVIDIA A100-SXM4-80GB\n"
             "#  Rank  1 Group  0 Pid   1001 on     host-a device  1 [0x09] NVIDIA A100-SXM4-80GB\n"
             "host-a: Test NCCL failure all_reduce.cu:44 'unhandled cuda error'\n");
  refused("calibrate " + dead, "Test NCCL failure all_reduce.cu:44");
  refused(compare + dead + " -o figure.svg", "Test NCCL failure all_reduce.cu:44");
}

TEST_CASE("one GPU is said to be one") {
  const std::string one =
      "simulate paper-7b-amsp --gpus 1 --set training.global_batch=16 --set strategy=ddp --set "
      "training.sequence_length=1024";
  CHECK_THAT(amsp_run(one).out, Contains("\n1 GPU: does not fit") && !Contains("1 GPUs"));
  CHECK_THAT(amsp_run(std::string("explain") + one.substr(8)).out, !Contains("1 GPUs"));
}
