// SPDX-License-Identifier: Apache-2.0
#include "cli/machine_check.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace amsp {
namespace fs = std::filesystem;
namespace {

// The program of that name on PATH, or "".
std::string on_path(std::string_view name) {
  const char* const path = std::getenv("PATH");
  if (path == nullptr) return "";
  const std::string folders(path);
  for (std::size_t from = 0; from <= folders.size();) {
    const std::size_t colon = std::min(folders.find(':', from), folders.size());
    const fs::path candidate = fs::path(folders.substr(from, colon - from)) / name;
    std::error_code error;
    if (fs::is_regular_file(candidate, error) && ::access(candidate.c_str(), X_OK) == 0)
      return candidate.string();
    from = colon + 1;
  }
  return "";
}

MachineCheck program(const std::string& what, const std::string& name, std::string package,
                     std::string without) {
  const std::string path = on_path(name);
  return {what, !path.empty(), path.empty() ? "not on PATH (package " + package + ")" : path,
          std::move(without)};
}

// Loads the library in a child, so that a broken driver cannot harm us.
MachineCheck library(const std::string& what, const std::string& name, std::string without) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(::dlopen(name.c_str(), RTLD_LAZY) == nullptr ? 1 : 0);
  int status = 1;
  if (child > 0) ::waitpid(child, &status, 0);
  const bool loads = child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return {what, loads, loads ? name : name + " does not load", std::move(without)};
}

MachineCheck gpus() {
  std::vector<std::string> models;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc/driver/nvidia/gpus", error)) {
    std::ifstream file(entry.path() / "information");
    for (std::string line; std::getline(file, line);)
      if (line.rfind("Model:", 0) == 0)
        models.push_back(line.substr(std::min(line.find_first_not_of(" \t", 6), line.size())));
  }
  std::sort(models.begin(), models.end());
  const std::string found =
      models.empty() ? "no NVIDIA GPU" : fmt::format("{} ({})", models.size(), models.front());
  return {"GPUs", !models.empty(), found,
          "amsp exec --backend nccl and GPU microbenchmarks; the gloo backend runs on CPUs"};
}

MachineCheck namespaces() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(::unshare(CLONE_NEWNET) == 0 ? 0 : errno);
  int status = 0;
  if (child > 0) ::waitpid(child, &status, 0);
  const int code = child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : EAGAIN;
  return {"network namespaces", code == 0,
          code == 0 ? "can be made" : std::string("cannot be made: ") + std::strerror(code),
          "the shaped test network of amsp validate; its ranks then share the loopback"};
}

MachineCheck chart_library() {
  constexpr const char* kFile = "/usr/share/javascript/chart.js/chart.min.js";
  const char* const set = std::getenv("AMSP_CHARTJS");
  const std::string file = set != nullptr && *set != '\0' ? set : kFile;
  const bool present = fs::exists(file);
  return {"Chart.js", present, present ? file : "missing (package libjs-chart.js)", "amsp report"};
}

}  // namespace

std::vector<MachineCheck> check_machine() {
  return {
      program("gnuplot", "gnuplot", "gnuplot-nox", "curve.svg (all figures stay in the report)"),
      chart_library(),
      gpus(),
      program("nvidia-smi", "nvidia-smi", "of the driver",
              "import of this machine's topology (files of others can be imported)"),
      library("CUDA driver", "libcuda.so.1", "amsp exec --backend nccl"),
      library("NCCL", "libnccl.so.2", "amsp exec --backend nccl"),
      program("ip", "ip", "iproute2", "the shaped test network of amsp validate"),
      program("tc", "tc", "iproute2", "the shaped test network of amsp validate"),
      namespaces(),
      program("chromium", "chromium", "chromium", "the browser test of the report (tests only)")};
}

}  // namespace amsp
