// SPDX-License-Identifier: Apache-2.0
// Numbers before nouns in messages.
#pragma once
#include <concepts>
#include <string>
#include <string_view>

namespace amsp {

// "1 row", "2 rows", "0 rows". The noun's plural is that with an s.
template <std::integral Count>
std::string counted(Count count, std::string_view noun) {
  std::string text = std::to_string(count) + ' ' + std::string(noun);
  if (count != 1) text += 's';
  return text;
}

}  // namespace amsp
