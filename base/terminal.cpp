// SPDX-License-Identifier: Apache-2.0
#include "base/terminal.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

namespace amsp {
namespace {

std::atomic<Verbosity> chosen{Verbosity::normal};

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

void line(std::string_view message) { fmt::print(stderr, "amsp: {}\n", message); }

}  // namespace

void set_verbosity(Verbosity verbosity) { chosen = verbosity; }
Verbosity verbosity() { return chosen; }

bool is_terminal(OutputStream stream) {
  return ::isatty(stream == OutputStream::standard_output ? STDOUT_FILENO : STDERR_FILENO) == 1;
}

bool colour_allowed(OutputStream stream) {
  return environment("NO_COLOR").empty() && environment("TERM") != "dumb" && is_terminal(stream);
}

void note(std::string_view message) {
  if (verbosity() != Verbosity::quiet) line(message);
}
void remark(std::string_view text) {
  if (verbosity() != Verbosity::quiet) fmt::print(stderr, "{}", text);
}
void detail(std::string_view message) {
  if (verbosity() == Verbosity::verbose) line(message);
}

}  // namespace amsp
