// SPDX-License-Identifier: Apache-2.0
#include "calibrate/logs/launcher_streams.hpp"

#include <algorithm>
#include <cctype>

#include "calibrate/logs/log_lines.hpp"

namespace amsp {

std::string_view launcher_label(std::string_view raw) {
  const std::string_view text = trim(raw.substr(0, 200));
  if (!text.empty() && text[0] == '[') {
    const std::size_t close = text.find(']');
    if (close != std::string_view::npos && text.compare(close, 5, "]<std") == 0)
      return text.substr(1, close - 1);
    return {};
  }
  std::size_t end = 0;
  while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 ||
                               text[end] == '-' || text[end] == '_' || text[end] == '.'))
    ++end;
  const bool label = end > 0 && end + 1 < text.size() && text[end] == ':' && text[end + 1] == ' ';
  return label ? text.substr(0, end) : std::string_view{};
}

std::vector<std::string> header_labels(std::string_view content) {
  constexpr std::size_t kMost = 256;
  constexpr std::size_t kLongestLabel = 200;
  std::vector<std::string> labels;
  for (std::size_t at = content.find("nThread "); at != std::string_view::npos;
       at = content.find("nThread ", at + 8)) {
    // A label stands close before; looking further back would not be linear in long lines.
    const std::size_t near = at < kLongestLabel ? 0 : at - kLongestLabel;
    const std::size_t begin = content.substr(near, at - near).rfind('\n');
    if (begin == std::string_view::npos && near > 0) continue;
    const std::size_t from = begin == std::string_view::npos ? 0 : near + begin + 1;
    const std::string label(launcher_label(content.substr(from, at - from + 8)));
    if (!label.empty() && labels.size() < kMost &&
        std::find(labels.begin(), labels.end(), label) == labels.end())
      labels.push_back(label);
  }
  return labels;
}

}  // namespace amsp
