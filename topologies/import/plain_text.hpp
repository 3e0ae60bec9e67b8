// SPDX-License-Identifier: Apache-2.0
// Pasted terminal text as plain lines of words.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace amsp {

// Lines without colours (also where only "[4m" is left of them), carriage returns, byte order
// marks, UTF-16's zero bytes, table bars and no-break blanks.
std::vector<std::string> plain_lines(std::string_view text);

// Words between blanks and tabs; they point into the line.
std::vector<std::string_view> words_of(std::string_view line);

}  // namespace amsp
