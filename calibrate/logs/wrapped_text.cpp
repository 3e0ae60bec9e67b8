// SPDX-License-Identifier: Apache-2.0
#include "calibrate/logs/wrapped_text.hpp"

#include <algorithm>
#include <vector>

#include "calibrate/logs/log_lines.hpp"
#include "calibrate/logs/row_shape.hpp"
#include "calibrate/logs/table_row.hpp"

namespace amsp {
namespace {

// One escape at text[at] = '\\'; `at` moves to its last character. What is beyond ASCII is "?".
char escaped(std::string_view text, std::size_t& at) {
  if (at + 1 >= text.size()) return ' ';
  switch (const char c = text[++at]) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case 'u':
      at = std::min(at + 4, text.size() - 1);
      return '?';
    default:
      return c;
  }
}

// The string that follows `key` and a colon; nothing is added when there is none.
void append_string(std::string_view line, std::string_view key, std::string& out) {
  std::size_t at = line.find(key);
  if (at == std::string_view::npos) return;
  at = line.find('"', at + key.size());
  if (at == std::string_view::npos) return;
  for (++at; at < line.size() && line[at] != '"'; ++at)
    out += line[at] == '\\' ? escaped(line, at) : line[at];
}

std::vector<std::string_view> all_words(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t at = 0;
  while ((at = text.find_first_not_of(" \t", at)) != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_of(" \t", at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

// The line in its parts; empty when it holds no table with two rows.
std::string parted(std::string_view line) {
  constexpr std::size_t kLongestLine = 300;  // no line of a table is longer
  if (line.size() <= kLongestLine || !contains(line, "busbw")) return "";
  const std::vector<std::string_view> words = all_words(line);
  std::string text;
  std::size_t rows = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool row = i + 2 < words.size() && row_size(words[i]) && row_count(words[i + 1]) &&
                     !row_size(words[i + 2]) && log_dtype(words[i + 2]);
    rows += row ? 1 : 0;
    text += row || words[i] == "#" ? '\n' : ' ';
    text += words[i];
  }
  return rows > 1 ? text : "";
}

}  // namespace

std::string with_line_ends(std::string_view content) {
  std::string text;
  bool any = false;
  LineReader lines(content);
  for (LogLine line; lines.next(line);) {
    const std::string parts = parted(line.raw);
    any = any || !parts.empty();
    text += parts.empty() ? line.raw : std::string_view(parts);
    text += '\n';
  }
  return any ? text : "";
}

std::string without_docker_json(std::string_view content) {
  const std::size_t first = content.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || content[first] != '{') return "";
  constexpr std::string_view key = "\"log\"";
  const std::string_view rest = trim(content.substr(first + 1, 100));
  if (!rest.starts_with(key)) return "";
  std::string text;
  text.reserve(content.size());
  LineReader lines(content);
  std::size_t number = 0;
  for (LogLine line; lines.next(line);) {
    while (number + 1 < line.number) text += '\n', ++number;
    std::string inner;
    append_string(line.raw, key, inner);
    for (const char c : inner)
      if (c != '\n') text += c;
    text += '\n';
    number = line.number;
  }
  return text;
}

std::string without_string_escapes(std::string_view content) {
  // The header of a table with its own line end and more behind it, on one line of the file.
  const std::size_t header = content.find("busbw");
  if (header == std::string_view::npos) return "";
  const std::size_t end = std::min(content.find('\n', header), content.size());
  const std::string_view rest = content.substr(header, end - header);
  const std::size_t line_end = rest.find("\\n");
  if (line_end == std::string_view::npos ||
      rest.find("\\n", line_end + 2) == std::string_view::npos)
    return "";
  std::string text;
  text.reserve(content.size());
  for (std::size_t at = 0; at < content.size(); ++at)
    text += content[at] == '\\' ? escaped(content, at) : content[at];
  return text;
}

}  // namespace amsp
