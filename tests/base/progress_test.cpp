// SPDX-License-Identifier: Apache-2.0
#include "base/progress.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>

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

TEST_CASE("NO_COLOR forbids colour even on a terminal") {
  setenv("NO_COLOR", "1", 1);
  CHECK_FALSE(colour_allowed(OutputStream::standard_output));
  CHECK_FALSE(colour_allowed(OutputStream::standard_error));
  unsetenv("NO_COLOR");
}
