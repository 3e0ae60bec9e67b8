// SPDX-License-Identifier: Apache-2.0
// amsp calibrate as a user meets it: options that do not go together, the bar on a terminal, and
// logs that are refused as a whole.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include "program.hpp"

using namespace amsp;
using namespace amsp::program;
using Catch::Contains;

namespace {

// All-reduces over 16 ranks of three sizes.
std::string small_log(const Folder& folder) {
  const std::string file = (folder.path / "small.csv").string();
  std::ofstream(file) << "collective,gpus,message_bytes,time_s\nall_reduce,16,1048576,8e-5\n"
                         "all_reduce,16,16777216,3e-4\nall_reduce,16,268435456,3.4e-3\n";
  return file;
}

}  // namespace

TEST_CASE("calibrate refuses options that it would not use") {
  const Folder folder;
  const std::string log = small_log(folder), file = (folder.path / "c.json").string();
  for (const auto& [flags, option] :
       {std::pair<std::string, std::string>{"--format json", "--format"},
        {"--format table", "--format"},
        {"--cross-validate --format csv", "--format"},
        {"--cross-validate -o " + file, "--output"},
        {"--parse-only -o " + file, "--output"},
        {"--parse-only --residuals", "--residuals"},
        {"--parse-only --cross-validate", "--cross-validate"},
        {"--parse-only --cluster a800-4hdr", "--cluster"}}) {
    CAPTURE(flags);
    const Outcome run = amsp_run("calibrate " + log + " " + flags);
    CHECK(run.status == 2);
    CHECK(run.out.empty());
    CHECK_THAT(run.err, Catch::StartsWith("amsp: command line: " + option + ": "));
    CHECK(std::count(run.err.begin(), run.err.end(), '\n') == 1);
  }
  CHECK_FALSE(std::filesystem::exists(file));
  CHECK(amsp_run("calibrate " + log + " --parse-only --format csv").status == 0);
  CHECK(amsp_run("calibrate " + log + " --cluster a800-4hdr --residuals -o " + file).status == 0);
  CHECK(std::filesystem::exists(file));
}

TEST_CASE("calibrate shows on a terminal how far it is, and nowhere else") {
  const Folder folder;
  const std::string command = "calibrate " + small_log(folder) + " --cluster a800-4hdr";
  const auto on_terminal = [&](const std::string& flags) {
    const std::string file = (folder.path / "typescript").string();
    const std::string line = "script -qc '" + std::string(AMSP_PROGRAM) + " " + command + flags +
                             "' " + file + " >" + file + ".out 2>&1 </dev/null";
    REQUIRE(std::system(line.c_str()) == 0);
    return read_file(file);
  };
  const std::string fit = on_terminal("");
  CHECK_THAT(fit, Contains("calibrate [........................] 0/2") && Contains("1/2") &&
                      Contains(": all_reduce"));
  CHECK_THAT(on_terminal(" --cross-validate"), Contains("cross-validate [") && Contains("1/1"));
  CHECK_THAT(on_terminal(" --quiet"), !Contains("calibrate ["));
  const Outcome piped = amsp_run(command);
  CHECK(piped.err.empty());
  CHECK_THAT(piped.out, !Contains("0/2"));
}

TEST_CASE("calibrate: a log whose times are in another unit is no success") {
  const Folder folder;
  const std::string file = (folder.path / "ns-2n16g-all_reduce.txt").string();
  std::ofstream log(file);
  log << "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n";
  for (int power = 3; power <= 20; ++power) {
    const long bytes = 1L << power;
    const double us = 20 + std::exp2(power) / 1e5, rate = std::exp2(power) / us * 1e-3;
    char line[200];
    std::snprintf(line, sizeof line, "%ld %ld float sum -1 %.0f %.2f %.2f 0 %.2f %.2f %.2f 0\n",
                  bytes, bytes / 4, us * 1000, rate, rate * 1.875, us, rate, rate * 1.875);
    log << line;
  }
  log.close();
  const std::string found = "contradict themselves by the same factor, 1000: is the time in ns";
  const Outcome fit = amsp_run("calibrate --cluster dgx-h100 " + file);
  CHECK(fit.status == 2);
  CHECK_THAT(fit.err, Contains("ns-2n16g-all_reduce.txt: lines 1 to 19: ") && Contains(found));
  const Outcome read = amsp_run("calibrate --parse-only " + file);
  CHECK(read.status == 0);
  CHECK_THAT(read.err, Contains("warning: ") && Contains(found));
}
