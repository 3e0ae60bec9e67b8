// SPDX-License-Identifier: Apache-2.0
// pugixml with our manners: leading chatter, fragments and cut files are read as far as they go.
// For the importers' .cpp files only (heavy header).
#pragma once
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace amsp {

struct XmlText {
  pugi::xml_document document;
  std::vector<std::string> notes;  // that and where the file is cut or malformed
};

// Throws InputError when there is not a single element.
void load_xml(std::string_view text, std::string_view file, XmlText& xml);

// A whole number in [low, high]; `otherwise` when missing or malformed.
int integer_of(const pugi::xml_node& element, const char* attribute, int low, int high,
               int otherwise);
std::optional<double> number_of(const pugi::xml_node& element, const char* attribute);

// Values that say nothing in their place: each becomes a note with its file, element and attribute.
class OddValues {
 public:
  void set_file(std::string_view file) { file_ = file; }
  void add(const pugi::xml_node& element, const char* attribute, std::string_view accepted);
  // `missing` where the attribute is absent or empty, `odd` (and a note) where it is no such
  // number.
  int integer(const pugi::xml_node& element, const char* attribute, int low, int high, int missing,
              int odd);
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::string file_;
  std::size_t count_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace amsp
