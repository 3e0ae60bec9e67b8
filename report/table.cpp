// SPDX-License-Identifier: Apache-2.0
#include "report/table.hpp"

#include <algorithm>
#include <cassert>

#include "base/terminal.hpp"

namespace amsp {
namespace {

constexpr std::string_view kNothing = "–";
constexpr std::string_view kGap = "  ";

std::string header_text(const TableColumn& column) {
  return column.unit.empty() ? column.header : column.header + " [" + column.unit + "]";
}

std::string padded(std::string_view text, std::size_t width, Align align) {
  const std::size_t used = display_width(text);
  const std::string blanks(width > used ? width - used : 0, ' ');
  return align == Align::left ? std::string(text) + blanks : blanks + std::string(text);
}

std::vector<std::size_t> widths(const Table& table) {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < table.columns().size(); ++i) {
    std::size_t width = display_width(header_text(table.columns()[i]));
    for (const auto& row : table.rows())
      width = std::max(width, display_width(row[i].empty() ? kNothing : row[i]));
    result.push_back(width);
  }
  return result;
}

std::string trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

Table::Table(std::vector<TableColumn> columns) : columns_(std::move(columns)) {}

void Table::add_row(std::vector<std::string> cells) {
  assert(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

std::size_t display_width(std::string_view text) {
  // Bytes that do not continue a UTF-8 sequence.
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) >> 6) != 2; }));
}

std::string table_text(const Table& table, bool colour) {
  const std::vector<std::size_t> width = widths(table);
  const auto line = [&](const auto& cell) {
    std::string text;
    for (std::size_t i = 0; i < width.size(); ++i)
      text +=
          (i == 0 ? "" : std::string(kGap)) + padded(cell(i), width[i], table.columns()[i].align);
    return trimmed(std::move(text));
  };
  const std::string header = line([&](std::size_t i) { return header_text(table.columns()[i]); });
  std::string text = colour ? "\x1b[1m" + header + "\x1b[0m\n" : header + "\n";
  for (const auto& row : table.rows())
    text +=
        line([&](std::size_t i) { return row[i].empty() ? std::string(kNothing) : row[i]; }) + "\n";
  return text;
}

std::string table_text(const Table& table) {
  return table_text(table, colour_allowed(OutputStream::standard_output));
}

}  // namespace amsp
