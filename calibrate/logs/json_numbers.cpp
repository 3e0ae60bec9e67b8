// SPDX-License-Identifier: Apache-2.0
#include "calibrate/logs/json_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace amsp {

std::optional<PrintedNumber> json_number(const JsonValue& object, std::string_view key) {
  const auto value = object.find(key);
  if (!value) return std::nullopt;
  if (value->is_string()) return parse_printed_number(trim(value->as_string()));
  if (!value->is_number()) return std::nullopt;
  // The shortest text of the number shows the digits that were printed.
  return parse_printed_number(fmt::format("{}", value->as_number(-1e300, 1e300)));
}

std::vector<std::size_t> lines_of_key(std::string_view content, std::string_view key) {
  std::vector<std::size_t> lines;
  std::size_t line = 1;
  std::size_t from = 0;
  for (std::size_t at = content.find(key); at != std::string_view::npos;
       at = content.find(key, at + key.size())) {
    line += static_cast<std::size_t>(std::count(content.begin() + static_cast<std::ptrdiff_t>(from),
                                                content.begin() + static_cast<std::ptrdiff_t>(at),
                                                '\n'));
    from = at;
    lines.push_back(line);
  }
  return lines;
}

}  // namespace amsp
