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

std::string csv_text(const Table& table) {
  std::vector<std::string> header;
  for (const TableColumn& column : table.columns()) header.push_back(header_field(column));
  std::string text = csv_line(header);
  for (const auto& row : table.rows()) text += csv_line(row);
  return text;
}

}  // namespace amsp
