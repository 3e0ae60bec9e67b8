// SPDX-License-Identifier: Apache-2.0
// Runs the program as a user does.
#pragma once
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <string>

#include "base/file.hpp"

namespace amsp::program {

struct Outcome {
  int status;
  std::string out, err;
};

inline Outcome amsp_run(const std::string& arguments, const std::string& environment = "") {
  namespace fs = std::filesystem;
  const fs::path errors = fs::temp_directory_path() / ("amsp-e2e-" + std::to_string(::getpid()));
  const std::string command =
      environment + " " + std::string(AMSP_PROGRAM) + " " + arguments + " 2>" + errors.string();
  std::FILE* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  Outcome outcome{0, "", ""};
  std::array<char, 4096> buffer{};
  while (const auto read = std::fread(buffer.data(), 1, buffer.size(), pipe))
    outcome.out.append(buffer.data(), read);
  outcome.status = WEXITSTATUS(::pclose(pipe));
  outcome.err = read_file(errors);
  fs::remove(errors);
  return outcome;
}

// A folder that is removed at the end.
struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("amsp-e2e-dir-" + std::to_string(::getpid()));
  Folder() {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }
};

// A step that is simulated in a moment.
inline const std::string small_step =
    "paper-7b-amsp --gpus 16 --set training.global_batch=16 --set training.sequence_length=1024 ";

}  // namespace amsp::program
