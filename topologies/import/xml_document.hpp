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

}  // namespace amsp
