// SPDX-License-Identifier: Apache-2.0
#include "report/chakra/stream.hpp"

namespace amsp {

void append_message(std::string& file, std::string_view message) {
  for (std::size_t length = message.size(); true; length >>= 7) {
    const auto low = static_cast<unsigned char>(length & 0x7f);
    if (length < 0x80) {
      file += static_cast<char>(low);
      break;
    }
    file += static_cast<char>(low | 0x80);
  }
  file += message;
}

std::optional<std::string_view> take_message(std::string_view& rest) {
  std::uint64_t length = 0;
  std::size_t used = 0;
  for (int shift = 0; shift < 35; shift += 7) {
    if (used == rest.size()) return std::nullopt;
    const auto byte = static_cast<unsigned char>(rest[used++]);
    length |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) {
      if (length > rest.size() - used) return std::nullopt;
      const std::string_view message = rest.substr(used, length);
      rest.remove_prefix(used + length);
      return message;
    }
  }
  return std::nullopt;
}

}  // namespace amsp
