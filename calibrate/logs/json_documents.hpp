// SPDX-License-Identifier: Apache-2.0
// JSON documents that stand one after another in a file (outputs that were appended, JSON lines).
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace amsp {

struct JsonDocument {
  std::string_view text;
  std::size_t begin = 0;  // in the content
  bool whole = true;      // false: the file ends inside it
};

// Objects and arrays of the top level, each from its bracket to the one that closes it; what stands
// between them is passed over.
// A document that never closes ends where a line begins another object with the same first key.
std::vector<JsonDocument> json_documents(std::string_view content);

// A document that is cut short, up to the last whole object of a list in it, with what is open
// there closed. Empty when no such object is whole.
std::string closed_document(std::string_view text);

}  // namespace amsp
