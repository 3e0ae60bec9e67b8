// SPDX-License-Identifier: Apache-2.0
// Bad input is an exception with a place; a bug is an assertion. The command line turns an
// InputError into one line on stderr and exit status 2.
#pragma once
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace amsp {

// Where in the input something is wrong: a file (or "command line") and a place inside it
// (a JSON path such as /links/3/rate, or a line such as line 12). Either may be empty.
struct Place {
  std::string file;
  std::string where;
};

// One message: "FILE: PLACE: what was found; what is accepted".
class InputError : public std::runtime_error {
 public:
  InputError(const Place& place, std::string_view message);
  explicit InputError(std::string_view message);
};

// A check that the user asked for did not hold (exit status 1).
class CheckFailed : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The accepted name nearest to `found` by edit distance, or "" if none is close.
std::string nearest_name(std::string_view found, const std::vector<std::string>& accepted);

// "unknown WHAT "found"; did you mean "x"? Accepted: a, b, c" (the list is cut after 24 names).
std::string unknown_name(std::string_view what, std::string_view found,
                         const std::vector<std::string>& accepted);

}  // namespace amsp
