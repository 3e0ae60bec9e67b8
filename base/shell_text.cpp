// SPDX-License-Identifier: Apache-2.0
#include "base/shell_text.hpp"

namespace amsp {

std::string shell_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

}  // namespace amsp
