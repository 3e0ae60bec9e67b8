// SPDX-License-Identifier: Apache-2.0
#include "calibrate/logs/row_marks.hpp"

#include <algorithm>

#include "calibrate/logs/log_lines.hpp"
#include "calibrate/logs/parted_rows.hpp"
#include "calibrate/logs/row_shape.hpp"
#include "calibrate/logs/table_row.hpp"

namespace amsp {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool has_comma_in_number(std::string_view text) {
  for (std::size_t at = text.find(','); at < text.size(); at = text.find(',', at + 1))
    if (at > 0 && at + 1 < text.size() && is_digit(text[at - 1]) && is_digit(text[at + 1]))
      return true;
  return false;
}

}  // namespace

DecimalMarks marks_of_rows(std::string_view content) {
  DecimalMarks marks(false);
  if (!has_comma_in_number(content)) return marks;
  std::string cleaned, parted;
  LineReader lines(content);
  for (LogLine line; lines.next(line);) {
    if (line.raw.find_first_of(".,") == std::string_view::npos) continue;
    clean_line(line.raw, cleaned);
    const Words words = split_words(with_blanks_between(split_nccl_noise(cleaned).data, parted, 0));
    const auto first = find_row(words);
    if (!first) continue;
    for (std::size_t i = *first; i < words.size; ++i)
      if (is_digit(words[i][0])) marks.see(words[i].substr(0, 40), i < *first + 2);
  }
  return marks;
}

std::string plain_cell(std::string_view word, const DecimalMarks& marks, bool whole) {
  const bool number = !word.empty() && is_digit(word[0]);
  if (number && whole)
    if (const auto count = row_count(word)) return std::to_string(*count);
  if (!number || word.find(',') == word.npos) return plain_cell(word);
  return marks.plain(word, whole).value_or(std::string(word));
}

}  // namespace amsp
