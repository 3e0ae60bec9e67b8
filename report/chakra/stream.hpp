// SPDX-License-Identifier: Apache-2.0
// Chakra files are a row of protobuf messages, each after its length as a varint.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace amsp {

void append_message(std::string& file, std::string_view message);

// Takes the next message off `rest`; nothing at the end of the file or when it is cut short (then
// `rest` is not empty).
std::optional<std::string_view> take_message(std::string_view& rest);

}  // namespace amsp
