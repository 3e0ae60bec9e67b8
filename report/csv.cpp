// SPDX-License-Identifier: Apache-2.0
#include "report/csv.hpp"

#include <algorithm>

namespace amsp {
namespace {

std::string header_field(const TableColumn& column) {
  std::string name = column.unit.empty() ? column.header : column.header + "_" + column.unit;
  for (std::size_t at = 0; (at = name.find('%', at)) != std::string::npos;)
    name.replace(at, 1, "percent");
  std::replace(name.begin(), name.end(), ' ', '_');
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

}  // namespace

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::string csv_line(const std::vector<std::string>& fields) {
  std::string line;
  for (std::size_t i = 0; i < fields.size(); ++i)
    line += (i == 0 ? "" : ",") + csv_field(fields[i]);
  return line + "\n";
}

std::string csv_text(const Table& table) {
  std::vector<std::string> header;
  for (const TableColumn& column : table.columns()) header.push_back(header_field(column));
  std::string text = csv_line(header);
  for (const auto& row : table.rows()) text += csv_line(row);
  return text;
}

}  // namespace amsp
