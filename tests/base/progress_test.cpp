// SPDX-License-Identifier: Apache-2.0
#include "base/progress.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <optional>
#include <string>

#include "base/terminal.hpp"

using namespace amsp;

TEST_CASE("the bar fills with what is done and estimates the rest by the mean so far") {
  CHECK(progress_line("runs", 0, 4, Seconds(0)) == "runs [........................] 0/4");
  CHECK(progress_line("runs", 1, 4, Seconds(10)) ==
        "runs [######..................] 1/4, 30 s left");
  CHECK(progress_line("runs", 2, 4, Seconds(600)) ==
        "runs [############............] 2/4, 10 min left");
  CHECK(progress_line("runs", 1, 4, Seconds(9000)) ==
        "runs [######..................] 1/4, 7.5 h left");
  CHECK(progress_line("runs", 4, 4, Seconds(20)) == "runs [########################] 4/4");
}

TEST_CASE("nonsense counts do not break the bar") {
  CHECK(progress_line("x", 9, 4, Seconds(1)) == "x [########################] 4/4");
  CHECK(progress_line("x", -1, 0, Seconds(1)) == "x [........................] 0/1");
}

namespace {

// Standard output is a new terminal while this lives.
class OnTerminal {
 public:
  OnTerminal() : saved_(::dup(STDOUT_FILENO)), master_(::posix_openpt(O_RDWR | O_NOCTTY)) {
    REQUIRE(master_ >= 0);
    REQUIRE(::grantpt(master_) == 0);
    REQUIRE(::unlockpt(master_) == 0);
    const int terminal = ::open(::ptsname(master_), O_RDWR | O_NOCTTY);
    REQUIRE(terminal >= 0);
    ::dup2(terminal, STDOUT_FILENO);
    ::close(terminal);
  }
  ~OnTerminal() {
    ::dup2(saved_, STDOUT_FILENO);
    ::close(saved_);
    ::close(master_);
  }
  OnTerminal(const OnTerminal&) = delete;
  OnTerminal& operator=(const OnTerminal&) = delete;

 private:
  int saved_, master_;
};

// An environment variable as it was before, at the end.
class WithVariable {
 public:
  WithVariable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1);
  }
  ~WithVariable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }
  WithVariable(const WithVariable&) = delete;
  WithVariable& operator=(const WithVariable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

bool colour_with(const char* no_color, const char* term) {
  const WithVariable first("NO_COLOR", no_color);
  const WithVariable second("TERM", term);
  return colour_allowed(OutputStream::standard_output);
}

}  // namespace

TEST_CASE("colour on a terminal that is not dumb, unless NO_COLOR forbids it") {
  bool plain, empty, forbidden, dumb;
  {
    const OnTerminal terminal;
    plain = colour_with(nullptr, "xterm");
    empty = colour_with("", "xterm");
    forbidden = colour_with("1", "xterm");
    dumb = colour_with(nullptr, "dumb");
  }
  CHECK(plain);
  CHECK(empty);  // no-color.org: when present and not empty
  CHECK_FALSE(forbidden);
  CHECK_FALSE(dumb);
}
