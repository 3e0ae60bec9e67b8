// SPDX-License-Identifier: Apache-2.0
#include "topologies/import/rewritten_text.hpp"

#include <algorithm>
#include <utility>

namespace amsp {
namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string without_escapes(std::string_view text) {
  if (!has(text, "\\n") || (!has(text, "GPU0\\t") && !has(text, "\\nGPU0"))) return "";
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    const bool escape = text[i] == '\\' && (next == 'n' || next == 't' || next == 'r');
    plain += !escape ? text[i] : next == 't' ? '\t' : '\n';
    i += escape ? 1 : 0;
  }
  return plain;
}

std::string without_entities(std::string_view text) {
  const bool tree = has(text, "&lt;system") || has(text, "&lt;pci") || has(text, "&lt;graph");
  const bool matrix = has(text, "GPU0") && has(text, "&nbsp;");
  if (!tree && !matrix) return "";
  constexpr std::pair<std::string_view, char> kEntities[] = {{"&lt;", '<'},   {"&gt;", '>'},
                                                             {"&quot;", '"'}, {"&#34;", '"'},
                                                             {"&nbsp;", ' '}, {"&amp;", '&'}};
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto* entity = std::find_if(
        std::begin(kEntities), std::end(kEntities),
        [&](const auto& known) { return text.substr(i, known.first.size()) == known.first; });
    if (entity == std::end(kEntities)) {
      plain += text[i];
    } else {
      plain += entity->second;
      i += entity->first.size() - 1;
    }
  }
  return plain;
}

// Whether a comma parts two ranges of one affinity, "0-55,112-167".
bool is_in_list(std::string_view text, std::size_t at) {
  const auto is_digit = [&](std::size_t i) {
    return i < text.size() && text[i] >= '0' && text[i] <= '9';
  };
  if (at == 0 || !is_digit(at - 1) || !is_digit(at + 1)) return false;
  const std::size_t end = text.find_first_not_of("0123456789", at + 1);
  return end < text.size() && text[end] == '-';
}

// Whether a line begins as a matrix parted by this mark does: ",GPU0,GPU1", "GPU0,X,NV12" and the
// same in quotes.
bool has_parted_line(std::string_view text, char mark) {
  const std::string before = std::string(" \t\"") + mark;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
    const std::size_t first = line.find_first_not_of(before);
    if (first == std::string_view::npos) continue;
    line.remove_prefix(first);
    if (!line.starts_with("GPU0")) continue;
    line.remove_prefix(4);
    if (line.starts_with('"')) line.remove_prefix(1);
    if (line.starts_with(mark)) return true;
  }
  return false;
}

// Commas inside quotes and lists stay: "0-55,112-167" is one cell.
std::string without_separators(std::string_view text) {
  for (const char* element : {"<system", "<cpu", "<pci", "<graph"})
    if (has(text, element)) return "";
  for (const char mark : {',', ';'}) {
    const std::string header = std::string("GPU0") + mark + "GPU1";
    const std::string quoted = std::string("GPU0\"") + mark + "\"GPU1\"";
    if ((!has(text, header) && !has(text, quoted)) || !has_parted_line(text, mark)) continue;
    std::string plain;
    bool inside = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (c == '"') inside = !inside;
      if (c == '\n') inside = false;
      const bool parts = c == mark && !inside && !is_in_list(text, i);
      if (c != '"') plain += parts ? '\t' : c;
    }
    return plain;
  }
  return "";
}

}  // namespace

std::string as_printed(std::string_view text) {
  std::string plain = without_escapes(text);
  if (plain.empty()) plain = without_entities(text);
  if (plain.empty()) plain = without_separators(text);
  return plain;
}

}  // namespace amsp
