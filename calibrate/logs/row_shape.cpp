// SPDX-License-Identifier: Apache-2.0
#include "calibrate/logs/row_shape.hpp"

#include <algorithm>
#include <cctype>

#include "base/counted.hpp"
#include "calibrate/logs/decimal_marks.hpp"
#include "calibrate/logs/table_cells.hpp"
#include "calibrate/logs/table_row.hpp"

namespace amsp {

std::optional<std::int64_t> row_count(std::string_view word) {
  if (word.empty() || word.size() > 40) return std::nullopt;
  const auto plain = without_thousands(word);
  if (!plain) return std::nullopt;
  if (const auto whole = parse_whole_number(*plain)) return whole;
  // "1.048.576", "1'048'576": a size or count has no fraction.
  const char mark = word.find('.') == word.npos ? '\'' : '.';
  std::string commas(word);
  std::replace(commas.begin(), commas.end(), mark, ',');
  const auto parted = word.find(',') == word.npos ? without_thousands(commas) : std::nullopt;
  return parted ? parse_whole_number(*parted) : std::nullopt;
}

std::optional<std::int64_t> row_size(std::string_view word) {
  if (const auto whole = row_count(word)) return whole;
  std::size_t digits = 0;
  while (digits < word.size() && std::isdigit(static_cast<unsigned char>(word[digits])) != 0)
    ++digits;
  if (digits == 0 || digits > 5 || digits == word.size()) return std::nullopt;
  const std::string unit = to_lower(word.substr(digits, 8));
  const std::size_t power = std::string_view("kmgt").find(unit[0]);
  if (power == std::string_view::npos || (unit.size() > 1 && unit != unit.substr(0, 1) + "ib"))
    return std::nullopt;
  return *parse_whole_number(word.substr(0, digits)) << (10 * (power + 1));
}

std::optional<std::int64_t> untyped_size(std::string_view word) {
  if (const auto size = row_size(word)) return size;
  if (word.empty() || std::isdigit(static_cast<unsigned char>(word[0])) == 0) return std::nullopt;
  const auto bytes = std::isalpha(static_cast<unsigned char>(word.back())) != 0
                         ? parse_size_cell(word)
                         : std::nullopt;
  if (!bytes) return std::nullopt;
  return static_cast<std::int64_t>(bytes->value());
}

std::string plain_cell(std::string_view word) {
  const bool number = !word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) != 0;
  if (!number) return std::string(word);
  return without_thousands(word).value_or(std::string(word));
}

// "12,34", "1.234,5".
bool has_decimal_comma(std::string_view word) {
  if (word.empty() || word.size() > 40 || word.find_first_not_of("0123456789.,") != word.npos)
    return false;
  DecimalMarks marks(false);
  marks.see(word, false);
  return marks.commas_are_decimal();
}

bool is_not_finite(std::string_view word) {
  if (!word.empty() && (word[0] == '-' || word[0] == '+')) word.remove_prefix(1);
  return equal_ignoring_case(word, "nan") || equal_ignoring_case(word, "inf") ||
         equal_ignoring_case(word, "infinity");
}

bool is_number_cell(std::string_view word) {
  return parse_printed_number(plain_cell(word.substr(0, 41))) || has_decimal_comma(word) ||
         is_not_finite(word) || equal_ignoring_case(word, "n/a");
}

bool looks_like_row(const Words& words) {
  constexpr std::size_t kFewest = 5;  // size, count or type, time, algbw, busbw
  if (words.size < kFewest || std::isdigit(static_cast<unsigned char>(words[0][0])) == 0)
    return false;
  std::size_t numbers = row_size(words[0]) ? 1 : 0;
  std::size_t types = 0;
  for (std::size_t i = 1; i < words.size; ++i) {
    if (is_number_cell(words[i])) ++numbers;
    if (log_dtype(words[i])) ++types;
  }
  return numbers >= kFewest && numbers * 4 >= (words.size - types) * 3;
}

bool is_numbers(const Words& words) {
  if (!parse_whole_number(words[0])) return false;
  for (std::size_t i = 1; i < words.size; ++i)
    if (!log_dtype(words[i]) && !is_number_cell(words[i])) return false;
  return true;
}

namespace {

bool is_alnum(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

std::size_t leading_digits(std::string_view word) {
  std::size_t digits = 0;
  while (digits < word.size() && std::isdigit(static_cast<unsigned char>(word[digits])) != 0)
    ++digits;
  return digits;
}

// A word that no row has: letters (also beyond ASCII) that name no type, reduction or unit.
bool is_prose_word(std::string_view word) {
  const auto is_letter = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x80 || std::isalpha(byte) != 0;
  };
  if (word.size() < 2 || !std::all_of(word.begin(), word.end(), is_letter)) return false;
  if (log_dtype(word) || is_number_cell(word)) return false;
  for (const std::string_view known :
       {"sum", "prod", "min", "max", "avg", "mulsum", "none", "na", "bytes", "byte", "kb", "mb",
        "gb", "kib", "mib", "gib", "ns", "us", "ms"})
    if (equal_ignoring_case(word, known)) return false;
  return true;
}

// "2 half nodes were used": as many words of prose as numbers. A row that begins with a size from
// 10000 on is one whatever was printed into it.
bool is_prose(std::string_view text, std::size_t digits) {
  if (digits >= 5) return false;
  std::size_t prose = 0, numbers = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = text.find_first_not_of(" \t,;:!?|\"'()[]", at);
    if (begin == std::string_view::npos) break;
    at = std::min(text.find_first_of(" \t,;:!?|\"'()[]", begin), text.size());
    std::string_view word = text.substr(begin, at - begin);
    while (!word.empty() && word.back() == '.') word.remove_suffix(1);
    if (is_prose_word(word)) ++prose;
    if (leading_digits(word) > 0 || word == "-1") ++numbers;
  }
  return prose >= numbers && prose > 0;
}

// "2024/05/01", "1.": not even a size that was written in another way.
bool is_date_or_item(std::string_view word, std::size_t digits) {
  if (digits == word.size() || digits >= 5) return false;
  return word[digits] == '/' || (word[digits] == '.' && digits + 1 == word.size());
}

}  // namespace

bool has_size_and_type(const Words& words, std::string_view text) {
  const std::string_view first = words[0];
  const std::size_t digits = leading_digits(first);
  if (digits == 0 || is_date_or_item(first, digits) || is_prose(text, digits)) return false;
  const bool ends = digits == first.size() || (!is_alnum(first[digits]) && first[digits] != ':' &&
                                               first[digits] != '-' && first[digits] != ')');
  if (!ends && !row_size(first) && !looks_like_row(words)) return false;
  for (std::size_t at = digits; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && (is_alnum(text[end]) || text[end] == '_')) ++end;
    if (log_dtype(text.substr(at, end - at))) return true;
    at = end + 1;
  }
  return false;
}

std::string why_no_row(const Words& words, std::size_t columns) {
  if (!row_size(words[0]))
    return "\"" + printable(words[0]) + "\" is no size (bytes, or K, M, G of 1024)";
  const std::string found = std::to_string(words.size);
  if (columns == 0) return "cut short: " + counted(words.size, "column");
  if (words.size < columns)
    return "cut short: " + found + " of " + std::to_string(columns) + " columns";
  return "no whole count and data type where the table has them";
}

}  // namespace amsp
