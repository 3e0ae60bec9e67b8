// SPDX-License-Identifier: Apache-2.0
#include "calibrate/logs/json_documents.hpp"

namespace amsp {
namespace {

constexpr std::size_t kMostDocuments = 100'000;

// The first key of an object with its quotes; empty when a list or nothing of the kind begins here.
std::string_view first_key(std::string_view text) {
  constexpr std::size_t kLongest = 100;
  if (text.empty() || text[0] != '{') return {};
  const std::size_t begin = text.find_first_not_of(" \t\r\n", 1);
  if (begin == std::string_view::npos || text[begin] != '"') return {};
  const std::string_view key = text.substr(begin, kLongest);
  const std::size_t end = key.find('"', 1);
  return end == std::string_view::npos ? std::string_view() : key.substr(0, end + 1);
}

// Appends the documents from `from` on; returns where one begins that never closes, or npos. With
// `restart`, a line that begins like the open document ends it.
std::size_t append_documents(std::string_view content, std::size_t from, bool restart,
                             std::vector<JsonDocument>& documents) {
  std::size_t depth = 0, begin = from;
  bool in_string = false;
  std::string_view key;
  for (std::size_t i = from; i < content.size() && documents.size() < kMostDocuments; ++i) {
    const char c = content[i];
    const bool line_begins = i == 0 || content[i - 1] == '\n';
    if (restart && depth > 0 && c == '{' && line_begins && !key.empty() &&
        first_key(content.substr(i)) == key) {
      documents.push_back({content.substr(begin, i - begin), begin, false});
      depth = 0;
      in_string = false;
    }
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = depth > 0;
    } else if (c == '{' || c == '[') {
      if (depth++ > 0) continue;
      begin = i;
      key = first_key(content.substr(i));
    } else if ((c == '}' || c == ']') && depth > 0 && --depth == 0) {
      documents.push_back({content.substr(begin, i + 1 - begin), begin, true});
    }
  }
  return depth > 0 ? begin : std::string_view::npos;
}

}  // namespace

std::vector<JsonDocument> json_documents(std::string_view content) {
  std::vector<JsonDocument> documents;
  std::size_t open = append_documents(content, 0, false, documents);
  if (open != std::string_view::npos) open = append_documents(content, open, true, documents);
  if (open != std::string_view::npos) documents.push_back({content.substr(open), open, false});
  return documents;
}

std::string closed_document(std::string_view text) {
  std::string open;  // the brackets that would close what is open, the innermost last
  std::string closers;
  std::size_t end = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      constexpr std::size_t kDeepest = 100;
      if (open.size() == kDeepest) break;
      open += c == '{' ? '}' : ']';
    } else if (c == '}' || c == ']') {
      if (open.empty() || open.back() != c) break;
      open.pop_back();
      if (c == ']' || open.empty() || open.back() != ']') continue;
      end = i + 1;
      closers.assign(open.rbegin(), open.rend());
    }
  }
  return end == 0 ? "" : std::string(text.substr(0, end)) + closers;
}

}  // namespace amsp
