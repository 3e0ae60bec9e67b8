// SPDX-License-Identifier: Apache-2.0
// Logs that a tool kept in strings: Docker's JSON lines, or a whole log in one JSON string; and
// logs that lost their line ends.
#pragma once
#include <string>
#include <string_view>

namespace amsp {

// {"log":"…\n","stream":"stdout",…} on every line → the lines themselves, one for one. Empty when
// the text is none.
std::string without_docker_json(std::string_view content);

// "…": "# nThread 1 …\n#\n …" → the text with its escapes read. Empty when no table of nccl-tests
// stands in a string.
std::string without_string_escapes(std::string_view content);

// A log whose line ends became blanks (a page copied as one paragraph): parted again before each
// comment and each row. Empty when no line holds a table's header and two rows.
std::string with_line_ends(std::string_view content);

}  // namespace amsp
