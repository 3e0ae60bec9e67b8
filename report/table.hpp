// SPDX-License-Identifier: Apache-2.0
// Tables: rows of text under headers that carry the unit, as aligned text for terminals and as
// CSV (report/csv.hpp). Cells are formatted by the caller, so both show the same figures.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace amsp {

enum class Align { left, right };

struct TableColumn {
  std::string header;          // "step time"
  std::string unit = "";       // "s": shown as "step time [s]"; may be empty
  Align align = Align::right;  // numbers to the right, names to the left
};

class Table {
 public:
  explicit Table(std::vector<TableColumn> columns);
  // As many cells as columns. An empty cell is printed as "–" in text, as nothing in CSV.
  void add_row(std::vector<std::string> cells);
  [[nodiscard]] const std::vector<TableColumn>& columns() const { return columns_; }
  [[nodiscard]] const std::vector<std::vector<std::string>>& rows() const { return rows_; }

 private:
  std::vector<TableColumn> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Aligned text, one line a row, no trailing blanks. With `colour` the header is bold.
std::string table_text(const Table& table, bool colour);
// The same with colour where stdout allows it (base/terminal.hpp).
std::string table_text(const Table& table);

// Columns on a terminal that the text takes (code points; combining marks are not used here).
std::size_t display_width(std::string_view text);

}  // namespace amsp
