// SPDX-License-Identifier: Apache-2.0
// Topology files that went through a web page, a spreadsheet or a string of another file.
#pragma once
#include <string>
#include <string_view>

namespace amsp {

// The text as it was printed: "\\n" and "\\t" of a JSON or shell string, "&lt;" and "&nbsp;" of
// HTML, cells of a matrix that commas or semicolons part. Empty when nothing was rewritten.
std::string as_printed(std::string_view text);

}  // namespace amsp
