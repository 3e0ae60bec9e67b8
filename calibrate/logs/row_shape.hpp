// SPDX-License-Identifier: Apache-2.0
// What a line of a table of nccl-tests looks like before it is read: its cells as people and
// scripts rewrite them ("1,048,576", "1M", "nan"), and whether it is one at all.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "calibrate/logs/log_lines.hpp"

namespace amsp {

// A whole number, with thousands commas or without.
std::optional<std::int64_t> row_count(std::string_view word);
// A size: a whole number of bytes, or K, M, G, T of 1024 ("1M", "16KiB"), as nccl-tests' options.
std::optional<std::int64_t> row_size(std::string_view word);
// The same in a table without types, where no count says what was meant: also "1MB", "1.5G", with
// K, M and G of 1024 as in tables of other kinds.
std::optional<std::int64_t> untyped_size(std::string_view word);
// A cell as it is read: "1,429.40" → "1429.40"; other words stay.
std::string plain_cell(std::string_view word);

// "nan", "-nan", "inf": printed where a division failed. No measurement, but a cell of the row.
bool is_not_finite(std::string_view word);
// A number, N/A, or none that is finite.
bool is_number_cell(std::string_view word);

// Starts with a number or size and is mostly numbers, so that nobody takes it for text. Dates and
// sentences with numbers are none.
bool looks_like_row(const Words& words);
// A whole number, then nothing but numbers and data types.
bool is_numbers(const Words& words);
// Begins with a whole number or size and holds the name of a data type; times of day, dates,
// numbered lists and prose (as many other words as numbers) are none.
bool has_size_and_type(const Words& words, std::string_view text);
// For lines that look like a row of a table of so many columns (0: no title line) and are none.
std::string why_no_row(const Words& words, std::size_t columns);

}  // namespace amsp
