// SPDX-License-Identifier: Apache-2.0
#include "topologies/import/plain_text.hpp"

#include <cctype>

namespace amsp {
namespace {

// A row of 512 devices needs less; longer lines (a file that is no matrix) are cut.
constexpr std::size_t kLongestLine = 65536;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The length of "[4m", "[0;31m" or "[K" at the start of the text, else 0.
std::size_t colour_length(std::string_view text, bool after_escape) {
  if (text.empty() || text[0] != '[') return 0;
  std::size_t i = 1;
  while (i < text.size() && (is_digit(text[i]) || text[i] == ';' || text[i] == '?')) ++i;
  if (i >= text.size()) return 0;
  if (after_escape) return i + 1;
  // Without the escape character only colours are sure ("[1,0]<stdout>" is a launcher's prefix).
  return text[i] == 'm' && i > 1 ? i + 1 : 0;
}

// Sequences that stand for a blank: no-break space, box drawing bars, Markdown's bars, stars and
// backquotes.
std::size_t blank_length(std::string_view text) {
  for (const std::string_view blank : {"\xc2\xa0", "\xe2\x94\x82", "\xe2\x94\x83", "|", "*", "`"})
    if (text.starts_with(blank)) return blank.size();
  return 0;
}

// "[1,0]<stdout>:" of mpirun, also with a time before it, which may touch the first word.
void drop_launcher_prefix(std::string& line) {
  constexpr std::size_t kLongestPrefix = 80;
  for (const std::string_view mark : {"<stdout>:", "<stderr>:"}) {
    const std::size_t at = line.find(mark);
    if (at == std::string::npos || at > kLongestPrefix) continue;
    line.erase(0, at + mark.size());
    return;
  }
}

}  // namespace

std::vector<std::string> plain_lines(std::string_view text) {
  std::vector<std::string> lines(1);
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    const char c = rest[0];
    if (c == '\n' || c == '\r') {
      if (!lines.back().empty() || c == '\n') lines.emplace_back();
      i += rest.starts_with("\r\n") ? 2 : 1;
    } else if (c == '\x1b') {
      i += 1 + colour_length(rest.substr(1), true);
    } else if (const std::size_t colour = colour_length(rest, false); colour > 0) {
      i += colour;
    } else if (const std::size_t blank = blank_length(rest); blank > 0) {
      if (lines.back().size() < kLongestLine) lines.back() += ' ';
      i += blank;
    } else {
      const bool fits = lines.back().size() < kLongestLine;
      if (fits && (c == '\t' || static_cast<unsigned char>(c) >= ' '))
        if (c != '\xff' && c != '\xfe' && !rest.starts_with("\xef\xbb\xbf")) lines.back() += c;
      i += rest.starts_with("\xef\xbb\xbf") ? 3 : 1;
    }
  }
  for (std::string& line : lines) drop_launcher_prefix(line);
  return lines;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  std::size_t i = 0;
  while (i < line.size()) {
    while (i < line.size() && (line[i] == ' ' || line[i] == '\t')) ++i;
    const std::size_t start = i;
    while (i < line.size() && line[i] != ' ' && line[i] != '\t') ++i;
    if (i > start) words.push_back(line.substr(start, i - start));
  }
  return words;
}

}  // namespace amsp
