// SPDX-License-Identifier: Apache-2.0
#include "scenarios/reference.hpp"

#include <fmt/format.h>

#include <charconv>
#include <sstream>

#include "base/file.hpp"

namespace amsp {
namespace {

// Fields of a line; a quoted field may hold commas.
std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      fields.emplace_back();
    else
      fields.back() += c;
  }
  return fields;
}

template <class Number>
Number number_of(const std::string& text, const Place& place) {
  Number number{};
  if (text.empty()) return number;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size())
    throw InputError(place, fmt::format("\"{}\" is not a number", text));
  return number;
}

}  // namespace

std::vector<ReferenceRow> load_reference() {
  const auto file = data_folder("scenarios/data") / "paper_reference.csv";
  std::istringstream text(read_file(file));
  std::vector<ReferenceRow> rows;
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    if (line.empty() || line.front() == '#' || line.rfind("source,", 0) == 0) continue;
    const Place place{file.string(), fmt::format("line {}", number)};
    const auto field = fields_of(line);
    if (field.size() != 9) throw InputError(place, fmt::format("{} fields, not 9", field.size()));
    rows.push_back({field[0], field[1], field[2], number_of<int>(field[3], place),
                    number_of<int>(field[4], place), field[5], field[6],
                    number_of<double>(field[7], place), field[8]});
  }
  return rows;
}

std::optional<double> reference_value(const std::vector<ReferenceRow>& rows,
                                      const ReferenceKey& key, int gpus, std::string_view metric) {
  for (const std::string_view source : {"Fig. 12", "derived", "text"})
    for (const ReferenceRow& row : rows)
      if (row.source == source && row.system == key.system && row.model == key.model &&
          row.gpus == gpus && row.metric == metric)
        return row.value;
  return std::nullopt;
}

}  // namespace amsp
