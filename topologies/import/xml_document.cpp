// SPDX-License-Identifier: Apache-2.0
#include "topologies/import/xml_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/error.hpp"

namespace amsp {

void load_xml(std::string_view text, std::string_view file, XmlText& xml) {
  const std::size_t first = std::min(text.find('<'), text.size());
  const std::string_view body = text.substr(first);
  const pugi::xml_parse_result result = xml.document.load_buffer(
      body.data(), body.size(), pugi::parse_default | pugi::parse_fragment);
  if (!xml.document.first_child())
    throw InputError({std::string(file), ""},
                     fmt::format("not XML ({})", result ? "no element" : result.description()));
  if (result) return;
  const auto at = first + static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, result.offset));
  const auto line =
      1 + std::count(text.begin(),
                     text.begin() + static_cast<std::ptrdiff_t>(std::min(at, text.size())), '\n');
  xml.notes.push_back(
      fmt::format("{}: line {}: {}; what stands before is used", file, line, result.description()));
}

int integer_of(const pugi::xml_node& element, const char* attribute, int low, int high,
               int otherwise) {
  const char* text = element.attribute(attribute).value();
  int value = 0;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), value);
  if (error != std::errc() || *end != '\0' || value < low || value > high) return otherwise;
  return value;
}

std::optional<double> number_of(const pugi::xml_node& element, const char* attribute) {
  const char* text = element.attribute(attribute).value();
  double value = 0;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), value);
  if (error != std::errc() || end == text || !std::isfinite(value)) return std::nullopt;
  return value;
}

void OddValues::add(const pugi::xml_node& element, const char* attribute,
                    std::string_view accepted) {
  constexpr std::size_t kMostShown = 8, kLongest = 40;  // a broken writer breaks every line
  const std::string_view value = element.attribute(attribute).value();
  std::string_view bus;  // of the PCI device that the element is of
  for (pugi::xml_node at = element; at && bus.empty(); at = at.parent())
    bus = at.attribute("busid").value();
  if (count_++ < kMostShown)
    notes_.push_back(fmt::format("{}: {}{}: {}=\"{}\" is not used; accepted: {}", file_,
                                 element.name(), bus.empty() ? "" : fmt::format(" at {}", bus),
                                 attribute, value.substr(0, kLongest), accepted));
  else if (count_ == kMostShown + 1)
    notes_.push_back(fmt::format("{}: further values are not used for like reasons", file_));
}

int OddValues::integer(const pugi::xml_node& element, const char* attribute, int low, int high,
                       int missing, int odd) {
  const pugi::xml_attribute given = element.attribute(attribute);
  if (!given || !*given.value()) return missing;
  const int value = integer_of(element, attribute, low, high, low - 1);
  if (value >= low) return value;
  add(element, attribute, fmt::format("a whole number from {} to {}", low, high));
  return odd;
}

}  // namespace amsp
