// SPDX-License-Identifier: Apache-2.0
#include "calibrate/logs/json_documents.hpp"

namespace amsp {

std::vector<JsonDocument> json_documents(std::string_view content) {
  constexpr std::size_t kMost = 100'000;
  std::vector<JsonDocument> documents;
  std::size_t depth = 0, begin = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < content.size() && documents.size() < kMost; ++i) {
    const char c = content[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = depth > 0;
    } else if (c == '{' || c == '[') {
      if (depth++ == 0) begin = i;
    } else if ((c == '}' || c == ']') && depth > 0 && --depth == 0) {
      documents.push_back({content.substr(begin, i + 1 - begin), begin, true});
    }
  }
  if (depth > 0) documents.push_back({content.substr(begin), begin, false});
  return documents;
}

}  // namespace amsp
