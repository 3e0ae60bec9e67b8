// SPDX-License-Identifier: Apache-2.0
// Numbers in JSON written by test programs: sometimes strings, with as many digits as printed.
#pragma once
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "base/json_value.hpp"
#include "calibrate/logs/log_lines.hpp"

namespace amsp {

// The member as a number (12.5, "12.5", "    -1"); nothing when absent, null, "nan" or a word.
std::optional<PrintedNumber> json_number(const JsonValue& object, std::string_view key);

// The line of each occurrence of `key` in the text.
std::vector<std::size_t> lines_of_key(std::string_view content, std::string_view key);

}  // namespace amsp
