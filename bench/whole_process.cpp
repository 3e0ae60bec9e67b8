// SPDX-License-Identifier: Apache-2.0
// Whole processes against their targets: median wall time, CPU time and greatest memory of several
// runs of each command. bench_whole_process [RUNS] [WORD]: only rows whose name contains WORD.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

struct Row {
  std::string name;
  std::vector<std::string> command;
  double target_s;  // 0: none stated
  long target_mb;
};

struct Cost {
  double wall_s = 0, cpu_s = 0;
  long memory_mb = 0;
  bool ok = false;
};

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

Cost run(const std::vector<std::string>& command) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    const int nothing = open("/dev/null", O_WRONLY);
    dup2(nothing, STDOUT_FILENO);
    execv(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  return {wall.count(), seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss / 1024,
          WIFEXITED(status) && WEXITSTATUS(status) == 0};
}

Cost median(const std::vector<std::string>& command, int runs) {
  std::vector<Cost> costs;
  for (int i = 0; i < runs; ++i) costs.push_back(run(command));
  const auto middle_of = [&](double Cost::*part) {
    std::sort(costs.begin(), costs.end(),
              [&](const Cost& a, const Cost& b) { return a.*part < b.*part; });
    return costs[costs.size() / 2].*part;
  };
  Cost middle{middle_of(&Cost::wall_s), middle_of(&Cost::cpu_s), 0, true};
  for (const Cost& cost : costs) {
    middle.memory_mb = std::max(middle.memory_mb, cost.memory_mb);
    middle.ok = middle.ok && cost.ok;
  }
  return middle;
}

std::vector<Row> rows() {
  const std::string amsp = AMSP_PROGRAM;
  const std::string large = std::string(BENCH_FOLDER) + "/30b-131072.json";
  const auto simulate = [&](std::vector<std::string> more) {
    std::vector<std::string> command{amsp,   "simulate", "paper-7b-amsp", "--gpus",
                                     "1024", "--format", "json"};
    command.insert(command.end(), more.begin(), more.end());
    return command;
  };
  std::vector<Row> all{
      {"the main job: 7B, five points", {amsp, "simulate", "paper-7b-amsp"}, 10, 1000},
      {"7B, 1024 GPUs, folded", simulate({}), 0.25, 200},
      {"the same, fluid unfolded", simulate({"--unfolded"}), 5, 3000},
      {"the same, simgrid", simulate({"--engine", "simgrid"}), 60, 3000},
      {"30B, 131072 GPUs, fat tree, folded",
       {amsp, "simulate", large, "--format", "json"},
       3,
       2000},
      {"7B, 1024 GPUs, a slow GPU and a degraded NIC, folded",
       simulate({"--slow-gpu", "77=0.8", "--degrade", "node3/mlx5_0=0.5"}), 2, 0}};
  for (const char* ranks : {"64", "256", "1024"})
    all.push_back(
        {fmt::format("neutral all-reduce, {} ranks", ranks), {NEUTRAL_ALLREDUCE, ranks}, 0, 0});
  for (const char* ranks : {"64", "256", "1024"})
    all.push_back(
        {fmt::format("neutral ZeRO-3, {} ranks", ranks), {NEUTRAL_ZERO3, ranks}, 0.25, 0});
  for (const char* gpus : {"1024", "4096", "16384", "65536", "131072"})
    all.push_back({fmt::format("30B, fat tree, {} GPUs, folded", gpus),
                   {amsp, "simulate", large, "--gpus", gpus, "--format", "json"},
                   0,
                   0});
  all.push_back({"plan: 13B, 1024 GPUs, 1936 candidates",
                 {amsp, "plan", "--model", "llama-13b", "--cluster", "a800-4hdr", "--calibration",
                  "a800-4hdr", "--gpus", "1024", "--global-batch", "8192", "--micro-batch",
                  "1,2,4,8", "--recompute", "none,full", "--format", "json"},
                 5,
                 0});
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::max(1, std::atoi(argv[1])) : 5;
  const std::string word = argc > 2 ? argv[2] : "";
  bool all_ok = true;
  fmt::print("{:<54} {:>9} {:>9} {:>9} {:>12}\n", "work", "wall [s]", "CPU [s]", "mem [MB]",
             "target");
  for (const Row& row : rows()) {
    if (row.name.find(word) == std::string::npos) continue;
    const Cost cost = median(row.command, runs);
    std::string target = row.target_s > 0 ? fmt::format("{} s", row.target_s) : "";
    if (row.target_mb > 0) target += fmt::format(", {} MB", row.target_mb);
    fmt::print("{:<54} {:>9.3f} {:>9.3f} {:>9} {:>12}{}\n", row.name, cost.wall_s, cost.cpu_s,
               cost.memory_mb, target, cost.ok ? "" : "  FAILED");
    std::fflush(stdout);
    all_ok = all_ok && cost.ok;
  }
  return all_ok ? 0 : 1;
}
