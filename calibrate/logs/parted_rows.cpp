// SPDX-License-Identifier: Apache-2.0
#include "calibrate/logs/parted_rows.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

#include "calibrate/logs/log_lines.hpp"
#include "calibrate/logs/table_row.hpp"

namespace amsp {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// A quote opens at the begin of a cell only: the outermost of a line may be gone already.
std::vector<std::string_view> cells_of(std::string_view line, char mark) {
  std::vector<std::string_view> cells;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t first = line.find_first_not_of(" \t", begin);
    std::size_t from = begin;
    if (first != std::string_view::npos && line[first] == '"')
      from = std::min(line.find('"', first + 1), line.size());
    const std::size_t end = std::min(line.find(mark, from), line.size());
    std::string_view cell = trim(line.substr(begin, end - begin));
    if (cell.starts_with('"')) cell.remove_prefix(1);
    if (cell.ends_with('"')) cell.remove_suffix(1);
    cells.push_back(trim(cell));
    begin = end + 1;
  }
  return cells;
}

// Most lines are neither; cells are only parted of those that may be.
bool may_be_cells(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t\"");
  if (first == std::string_view::npos) return false;
  return is_digit(line[first]) || contains(line, "busbw") || contains(line, "BusBW") ||
         contains(line, "busBW");
}

// A row has its data type in a cell of its own, a title line the word for it.
bool are_cells(const std::vector<std::string_view>& cells) {
  if (cells.size() < 3 || cells.front().empty()) return false;
  const bool row = is_digit(cells.front().front());
  return std::any_of(cells.begin() + 1, cells.end(), [&](std::string_view cell) {
    return row ? log_dtype(cell).has_value() : equal_ignoring_case(cell, "busbw");
  });
}

// A date with a time of day is two words in nccl-tests' own table (-T), too.
bool is_date_and_time(std::string_view cell) {
  return cell.find_first_not_of("0123456789-/:. ") == std::string_view::npos &&
         cell.find(':') != std::string_view::npos;
}

// A cell is one word: "1 048 576", whose blanks part thousands, "sum or max", "time (us)". Marks in
// front of a title ("# size") stay.
void append_cell(std::string_view cell, std::string& text) {
  text += cell.empty() ? "N/A" : "";
  const bool whole = is_date_and_time(cell) || cell.starts_with('#');
  const bool number = !cell.empty() && is_digit(cell[0]);
  for (std::size_t i = 0; i < cell.size(); ++i) {
    if (whole || (cell[i] != ' ' && cell[i] != '\t'))
      text += cell[i];
    else if (!number && cell[i + 1] != '(')
      text += '_';
  }
  text += ' ';
}

}  // namespace

std::string_view with_blanks_between(std::string_view line, std::string& buffer,
                                     std::size_t columns) {
  if (!may_be_cells(line)) return line;
  for (const char mark : {',', ';', '|'}) {
    if (line.find(mark) == std::string_view::npos) continue;
    std::vector<std::string_view> cells = cells_of(line, mark);
    while (cells.size() > columns && cells.back().empty()) cells.pop_back();
    if (!are_cells(cells)) continue;
    buffer.clear();
    for (const std::string_view cell : cells) append_cell(cell, buffer);
    buffer.pop_back();
    return buffer;
  }
  return line;
}

}  // namespace amsp
