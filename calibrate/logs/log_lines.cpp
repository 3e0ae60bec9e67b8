// SPDX-License-Identifier: Apache-2.0
#include "calibrate/logs/log_lines.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstring>

namespace amsp {
namespace {

constexpr std::size_t kLongestLine = 4096;

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_one_of(char c, std::string_view set) {
  for (const char other : set)
    if (c == other) return true;
  return false;
}

// Colours, controls and bytes beyond ASCII; most lines have none.
bool is_special(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < ' ' && c != '\t') || byte >= 0x7f;
}

// Terminal frames (tmux, rich): U+2502, U+2503, U+2551.
bool is_box_bar(std::string_view text) {
  return text == "\xe2\x94\x82" || text == "\xe2\x94\x83" || text == "\xe2\x95\x91";
}

// Copies a line without colours (ESC [ … letter), byte-order mark, no-break spaces and controls.
void copy_visible(std::string_view raw, std::string& out) {
  const auto special = std::find_if(raw.begin(), raw.end(), is_special);
  std::size_t i = static_cast<std::size_t>(special - raw.begin());
  out.assign(raw.substr(0, i));
  for (; i < raw.size(); ++i) {
    const char c = raw[i];
    if (c == '\x1b') {
      if (i + 1 < raw.size() && raw[i + 1] == '[') {
        i += 2;
        while (i < raw.size() && (raw[i] < '@' || raw[i] > '~')) ++i;
      }
    } else if (c == '\xc2' && i + 1 < raw.size() && raw[i + 1] == '\xa0') {
      out += ' ';
      ++i;
    } else if (is_box_bar(raw.substr(i, 3))) {
      out += ' ';
      i += 2;
    } else if (c == '\xef' && raw.compare(i, 3, "\xef\xbb\xbf") == 0) {
      i += 2;
    } else {
      out += static_cast<unsigned char>(c) < ' ' && c != '\t' ? ' ' : c;
    }
  }
}

// "Thu Jul 18 15:41:05 2024": what mpirun --timestamp-output puts before its tag.
bool is_asctime(std::string_view text) {
  return text.size() == 24 && text[3] == ' ' && text[7] == ' ' && text[13] == ':' &&
         text[16] == ':' && text[19] == ' ' && is_digit(text[20]) && is_digit(text[23]);
}

// Where the tag that ends at `end` (the position of "<stdout>:") begins.
std::size_t tag_begin(std::string_view text, std::size_t end) {
  std::size_t begin = end;
  if (begin > 0 && text[begin - 1] == ']') {
    const std::size_t open = text.rfind('[', begin - 1);
    if (open != std::string_view::npos && begin - open <= 100) begin = open;
  }
  if (begin >= 24 && is_asctime(text.substr(begin - 24, 24))) begin -= 24;
  return begin;
}

void remove_mpi_tags(std::string& text) {
  if (text.find("<std") == std::string::npos) return;
  for (const std::string_view tag : {"<stdout>:", "<stderr>:", "<stddiag>:"}) {
    if (text.find(tag) == std::string::npos) continue;
    std::string kept;
    std::size_t from = 0;
    for (std::size_t at = text.find(tag); at != std::string::npos; at = text.find(tag, from)) {
      const std::size_t begin = std::max(from, tag_begin(text, at));
      kept.append(text, from, begin - from);
      if (!kept.empty()) kept += ' ';  // a tag in the middle of a row stands between two columns
      from = at + tag.size();
    }
    text = kept.append(text, from);
  }
}

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && is_blank(text[at])) ++at;
  return at;
}

// "2024-05-01T12:00:00.123Z ", "2024-05-01 12:00:00,123 ", "12:00:00.123 ".
std::size_t timestamp_end(std::string_view text) {
  std::size_t at = 0;
  int colons = 0;
  while (at < text.size() &&
         (is_digit(text[at]) || is_one_of(text[at], "-:.,TZ+/") || (text[at] == ' ' && at == 10))) {
    if (text[at] == ':') ++colons;
    ++at;
  }
  const bool ends = at < text.size() && is_blank(text[at]);
  return ends && at >= 8 && colons >= 2 ? at : 0;
}

bool starts_like_table(std::string_view text) {
  const std::size_t at = skip_blanks(text, 0);
  return at < text.size() && (text[at] == '#' || is_digit(text[at]));
}

// "0: ", "host-a: ", "host-a | ": a label before table text, of one word.
std::size_t label_end(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() &&
         (is_letter(text[at]) || is_digit(text[at]) || is_one_of(text[at], "-_./")))
    ++at;
  if (at == 0 || at >= text.size()) return 0;
  const std::size_t mark = skip_blanks(text, at);
  if (mark >= text.size()) return 0;
  const bool colon = text[at] == ':';
  if (!colon && text[mark] != '|') return 0;
  const std::size_t end = (colon ? at : mark) + 1;
  if (end < text.size() && !is_blank(text[end])) return 0;
  const bool number =
      std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), is_digit);
  return number && colon ? end : starts_like_table(text.substr(end)) ? end : 0;
}

// "[0] ", "[rank0]: ", "[pod/a/b] ", "[1700000000.1] [host:1:0] ".
std::size_t bracket_end(std::string_view text) {
  if (text.empty() || text[0] != '[') return 0;
  const std::size_t close = text.substr(0, 100).find(']');
  if (close == std::string_view::npos) return 0;
  std::size_t end = close + 1;
  if (end < text.size() && text[end] == ':') ++end;
  return end;
}

// "> ", "- ", "* ", "+ " before table text.
std::size_t mark_end(std::string_view text) {
  if (text.empty() || !is_one_of(text[0], ">-*+")) return 0;
  if (text[0] == '>') return 1;
  return text.size() > 1 && is_blank(text[1]) ? 1 : 0;
}

std::uint32_t mark_hash(const char* four) {
  std::uint32_t value = 0;
  std::memcpy(&value, four, 4);
  return (value * 2654435761U) >> 16U;  // Knuth's multiplicative hash
}

// "…", of a list of lines in JSON (Ansible's stdout_lines).
void unquote(std::string& text) {
  std::size_t end = text.size();
  while (end > 0 && is_blank(text[end - 1])) --end;
  if (end > 0 && text[end - 1] == ',') --end;
  if (end < 2 || text[0] != '"' || text[end - 1] != '"') return;
  text.resize(end - 1);
  text.erase(0, 1);
  text.erase(0, skip_blanks(text, 0));
}

std::size_t prefix_end(std::string_view text) {
  std::size_t at = skip_blanks(text, 0);
  for (int layers = 0; layers < 6; ++layers) {
    const std::string_view rest = text.substr(at);
    std::size_t length = timestamp_end(rest);
    if (length == 0) length = label_end(rest);
    if (length == 0) length = bracket_end(rest);
    if (length == 0) length = mark_end(rest);
    if (length == 0) return at;
    at = skip_blanks(text, at + length);
  }
  return at;
}

}  // namespace

bool LineReader::next(LogLine& line) {
  if (rest_.empty()) return false;
  const std::size_t end = rest_.find_first_of("\r\n");
  line.number = number_;
  line.raw = rest_.substr(0, end);
  line.terminated = end != std::string_view::npos;
  if (!line.terminated) {
    rest_ = {};
    return true;
  }
  const bool both = rest_[end] == '\r' && end + 1 < rest_.size() && rest_[end + 1] == '\n';
  if (both || rest_[end] == '\n') ++number_;
  rest_.remove_prefix(end + (both ? 2 : 1));
  return true;
}

void clean_line(std::string_view raw, std::string& cleaned) {
  copy_visible(raw.substr(0, kLongestLine), cleaned);
  remove_mpi_tags(cleaned);
  cleaned.erase(0, prefix_end(cleaned));
  unquote(cleaned);
  if (!cleaned.empty() && cleaned[0] == '|') {
    // A Markdown row: bars between cells, stars and backquotes around them.
    std::replace_if(
        cleaned.begin(), cleaned.end(), [](char c) { return c == '|' || c == '*' || c == '`'; },
        ' ');
  }
  while (!cleaned.empty() && is_blank(cleaned.back())) cleaned.pop_back();
}

bool may_hold_facts(std::string_view cleaned) {
  // The first four characters of everything that is looked for outside rows.
  static const auto kTable = [] {
    std::vector<bool> table(1U << 16U, false);
    for (const std::string_view mark :
         {"nThr", "Coll", "nccl", "NCCL", "RCCL", "rccl", "Rank", "busb", "BusB", "busB",
          "BUSB", "Out ", "Avg ", "in-p", "(GB/", "_per", "SLUR", "WORL", "mpir", "mpie",
          "srun", "Test", "slur", "unha", "Segm", "star", "PMIX", "# er", "MSCC"})
      table[mark_hash(mark.data())] = true;
    return table;
  }();
  for (std::size_t i = 0; i + 4 <= cleaned.size(); ++i)
    if (kTable[mark_hash(cleaned.data() + i)]) return true;
  return false;
}

NoiseSplit split_nccl_noise(std::string_view cleaned) {
  std::size_t at = std::string_view::npos;
  for (const std::string_view mark : {"NCCL INFO", "NCCL WARN", "NCCL TRACE", "NCCL ABORT"})
    at = std::min(at, cleaned.find(mark));
  if (at == std::string_view::npos) return {cleaned, {}};
  // Back over "[0] " and "host:pid:tid ".
  std::size_t begin = at;
  const auto back_over_word = [&] {
    while (begin > 0 && is_blank(cleaned[begin - 1])) --begin;
    while (begin > 0 && !is_blank(cleaned[begin - 1])) --begin;
  };
  back_over_word();
  if (begin > 0 && cleaned[begin] == '[') back_over_word();
  // "0host-a:12:34": the number before the host is data.
  const std::string_view word = cleaned.substr(begin, at - begin);
  if (begin > 0) {
    std::size_t digits = 0;
    while (digits < word.size() && (is_digit(word[digits]) || is_one_of(word[digits], "+-.")))
      ++digits;
    if (digits < word.size() && std::isalpha(static_cast<unsigned char>(word[digits])) != 0)
      begin += digits;
  }
  return {cleaned.substr(0, begin), cleaned.substr(begin)};
}

Words split_words(std::string_view text) {
  Words words;
  std::size_t at = 0;
  while (words.size < words.word.size()) {
    at = skip_blanks(text, at);
    if (at >= text.size()) break;
    std::size_t end = at;
    while (end < text.size() && !is_blank(text[end])) ++end;
    words.word[words.size++] = text.substr(at, end - at);
    at = end;
  }
  return words;
}

std::optional<PrintedNumber> parse_printed_number(std::string_view word) {
  if (word.empty() || word.size() > 40) return std::nullopt;
  if (!is_digit(word[0]) && word[0] != '-' && word[0] != '.') return std::nullopt;
  PrintedNumber number;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number.value);
  if (error != std::errc{} || end != word.data() + word.size() || !std::isfinite(number.value))
    return std::nullopt;
  const std::size_t exponent_at = word.find_first_of("eE");
  const std::string_view mantissa = word.substr(0, exponent_at);
  const std::size_t point = mantissa.find('.');
  int exponent = 0;
  if (exponent_at != std::string_view::npos) {
    std::string_view digits = word.substr(exponent_at + 1);
    if (!digits.empty() && digits[0] == '+') digits.remove_prefix(1);
    std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  }
  if (point != std::string_view::npos) exponent -= static_cast<int>(mantissa.size() - point - 1);
  number.half_unit = 0.5 * std::pow(10.0, exponent);
  return number;
}

std::optional<std::int64_t> parse_whole_number(std::string_view word) {
  if (word.empty() || word.size() > 18 || !std::all_of(word.begin(), word.end(), is_digit))
    return std::nullopt;
  std::int64_t value = 0;
  std::from_chars(word.data(), word.data() + word.size(), value);
  return value;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string to_lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           return std::tolower(static_cast<unsigned char>(x)) ==
                  std::tolower(static_cast<unsigned char>(y));
         });
}

std::string_view word_after(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return {};
  const std::size_t begin = skip_blanks(text, at + mark.size());
  std::size_t end = begin;
  while (end < text.size() && !is_blank(text[end])) ++end;
  return text.substr(begin, end - begin);
}

std::string printable(std::string_view text) {
  constexpr std::size_t kLongest = 120;
  std::string result;
  for (const char c : text.substr(0, kLongest))
    result += c >= ' ' && c <= '~' ? c : (c == '\t' ? ' ' : '?');
  if (text.size() > kLongest) result += "...";
  return result;
}

}  // namespace amsp
