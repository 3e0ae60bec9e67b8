// SPDX-License-Identifier: Apache-2.0
#include "exec/testbed_control.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstring>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/units_text.hpp"
#include "exec/launch.hpp"

namespace amsp {
namespace {

constexpr int kSkipped = 77;  // exec/testbed's status where namespaces are not to be had
const Place kCommandLine{"command line", "--testbed"};

int whole(std::string_view text) {
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : -1;
}

std::string tc_rate(Bandwidth rate) {
  return fmt::format("{}kbit", std::llround(rate.value() * 8 / 1000));
}

struct ScriptResult {
  int status = 0;
  std::string errors;  // its stderr
};

// Stop signals do not reach the script, so that it is never cut short between two namespaces.
ScriptResult run_script(std::vector<std::string> arguments) {
  const std::string script = (data_folder("exec") / "testbed").string();
  std::vector<char*> argv;
  arguments.insert(arguments.begin(), {"bash", script});
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  int channel[2];
  if (pipe(channel) != 0) throw InputError(fmt::format("no pipe: {}", std::strerror(errno)));
  const pid_t pid = fork();
  if (pid == 0) {
    setpgid(0, 0);
    dup2(channel[1], STDERR_FILENO);
    dup2(channel[1], STDOUT_FILENO);
    close(channel[0]);
    execvp("bash", argv.data());
    _exit(127);
  }
  close(channel[1]);
  ScriptResult result;
  char buffer[512];
  while (true) {
    const ssize_t got = read(channel[0], buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    result.errors.append(buffer, static_cast<std::size_t>(got));
  }
  close(channel[0]);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

void run_checked(std::vector<std::string> arguments) {
  const ScriptResult result = run_script(std::move(arguments));
  if (result.status != 0) throw InputError(kCommandLine, result.errors);
}

}  // namespace

void parse_testbed_size(std::string_view text, TestbedShape& shape) {
  const std::size_t x = text.find('x');
  shape.nodes = x == std::string_view::npos ? -1 : whole(text.substr(0, x));
  shape.ranks_per_node = x == std::string_view::npos ? -1 : whole(text.substr(x + 1));
  if (shape.nodes < 1 || shape.ranks_per_node < 1 || shape.ranks() > 250)
    throw InputError(kCommandLine,
                     fmt::format("\"{}\" is no testbed; write nodes x ranks per node, e.g. 2x4 "
                                 "(at most 250 ranks)",
                                 text));
}

void parse_uplink(std::string_view text, TestbedShape& shape) {
  const std::size_t equals = text.find('=');
  const int node = equals == std::string_view::npos ? -1 : whole(text.substr(0, equals));
  const Place place{"command line", "--uplink"};
  if (node < 0 || node >= shape.nodes)
    throw InputError(place, fmt::format("\"{}\" names no node; write NODE=RATE with a node from 0 "
                                        "to {}",
                                        text, shape.nodes - 1));
  shape.uplinks[node] = parse_bandwidth(text.substr(equals + 1), place);
}

Testbed::Testbed(std::string name, const TestbedShape& shape) : name_(std::move(name)) {
  if (const std::string reason = unavailable(); !reason.empty())
    throw InputError(kCommandLine, reason);
  run_checked({"down", "--name", name_});
  run_checked({"up", "--name", name_, "--nodes", std::to_string(shape.nodes), "--ranks-per-node",
               std::to_string(shape.ranks_per_node), "--intra", tc_rate(shape.intra), "--inter",
               tc_rate(shape.inter)});
}

Testbed::~Testbed() { run_script({"down", "--name", name_}); }

void Testbed::set_uplink(int node, Bandwidth rate) {
  run_checked({"uplink", "--name", name_, fmt::format("{}={}", node, tc_rate(rate))});
}

std::vector<std::string> Testbed::namespaces() const { return testbed_namespaces(name_); }

std::string Testbed::unavailable() {
  const ScriptResult result = run_script({"probe", "--name", "probe"});
  if (result.status == 0) return "";
  if (result.status == kSkipped) return result.errors.substr(0, result.errors.find('\n'));
  return "exec/testbed fails: " + result.errors;
}

}  // namespace amsp
