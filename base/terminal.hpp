// SPDX-License-Identifier: Apache-2.0
// What may be written where: colours and progress only on a terminal, and how much the user wants
// to hear. Results are never affected.
#pragma once
#include <string>
#include <string_view>

namespace amsp {

enum class Verbosity { quiet, normal, verbose };

// Set once by the command line (--quiet, --verbose) before any work starts.
void set_verbosity(Verbosity verbosity);
Verbosity verbosity();

enum class OutputStream { standard_output, standard_error };
bool is_terminal(OutputStream stream);

// A terminal that is not "dumb", and NO_COLOR (https://no-color.org) is unset or empty.
bool colour_allowed(OutputStream stream);

// One line on stderr, "amsp: MESSAGE": always unless quiet; detail() only when verbose.
void note(std::string_view message);
// Text of a command's own layout on stderr ("warning: …", "assumed: …"), unless quiet. Errors that
// end the command are printed always.
void remark(std::string_view text);
void detail(std::string_view message);

}  // namespace amsp
