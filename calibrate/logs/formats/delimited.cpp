// SPDX-License-Identifier: Apache-2.0
// CSV and TSV: a title line whose columns name a size and a time or bandwidth with their units,
// then one record a line. A file may hold several such tables with text between them.
#include <algorithm>
#include <filesystem>
#include <set>

#include "base/counted.hpp"
#include "base/error.hpp"
#include "calibrate/logs/decimal_marks.hpp"
#include "calibrate/logs/log_format.hpp"
#include "calibrate/logs/row_shape.hpp"
#include "calibrate/logs/table_cells.hpp"

namespace amsp {
namespace {

constexpr std::size_t kMostColumns = 64;
constexpr std::size_t kMostStrays = 1000;

// Cells of a line; "quoted, cells" keep their separators.
std::vector<std::string_view> split_cells(std::string_view line, char separator) {
  std::vector<std::string_view> cells;
  std::size_t begin = 0;
  bool quoted = false;
  for (std::size_t i = 0; i <= line.size() && cells.size() < kMostColumns; ++i) {
    if (i < line.size() && line[i] == '"') quoted = !quoted;
    if (i < line.size() && (quoted || line[i] != separator)) continue;
    std::string_view cell = trim(line.substr(begin, i - begin));
    if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"')
      cell = cell.substr(1, cell.size() - 2);
    cells.push_back(cell);
    begin = i + 1;
  }
  return cells;
}

std::vector<CellColumn> title_columns(std::string_view line, char separator) {
  std::vector<CellColumn> columns;
  std::set<Meaning> seen;
  for (const std::string_view cell : split_cells(line, separator)) {
    CellColumn column = parse_column_title(cell);
    const bool timing = column.meaning == Meaning::time || column.meaning == Meaning::algbw ||
                        column.meaning == Meaning::busbw || column.meaning == Meaning::wrong;
    // time,algbw,busbw,…,time,algbw,busbw: the second is in place, as in nccl-tests' own table.
    if (timing && !seen.insert(column.meaning).second) column.in_place = true;
    columns.push_back(std::move(column));
  }
  return columns;
}

struct TitleLine {
  char separator;
  std::vector<CellColumn> columns;
};

std::optional<TitleLine> parse_title_line(std::string_view line) {
  for (const char separator : {',', '\t', ';'}) {
    const auto marks = std::count(line.begin(), line.end(), separator);
    if (marks < 1 || marks >= static_cast<std::ptrdiff_t>(kMostColumns)) continue;
    std::vector<CellColumn> columns = title_columns(line, separator);
    if (separator == '\t' && parse_table_header(line)) continue;  // nccl-tests' table with tabs
    if (RecordTable::usable(columns)) return TitleLine{separator, std::move(columns)};
  }
  return std::nullopt;
}

bool is_unit_line(const std::vector<std::string_view>& cells) {
  return std::all_of(cells.begin(), cells.end(), [](std::string_view cell) {
    return cell.empty() || (cell.front() == '(' && cell.back() == ')');
  });
}

// A time without a unit cannot be read, unless an algbw beside it tells; a bandwidth is in GB/s by
// nccl-tests' convention.
bool lacks_unit(const std::vector<CellColumn>& columns, std::string& title) {
  for (const CellColumn& column : columns)
    if (column.meaning == Meaning::algbw) return false;
  for (const CellColumn& column : columns)
    if (column.meaning == Meaning::time && !column.unit_stated) {
      title = column.title;
      return true;
    }
  return false;
}

std::string_view without_ending(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  if (line.compare(0, 3, "\xef\xbb\xbf") == 0) line.remove_prefix(3);
  return line;
}

bool may_be_delimited(std::string_view content) {
  LineReader lines(content);
  LogLine line;
  for (int i = 0; i < 2000 && lines.next(line); ++i)
    if (line.raw.size() < 4096 && parse_title_line(without_ending(line.raw))) return true;
  return false;
}

bool is_measured(Meaning meaning) {
  return meaning == Meaning::size || meaning == Meaning::count || meaning == Meaning::time ||
         meaning == Meaning::algbw || meaning == Meaning::busbw;
}

// A table whose lines are kept until its end, when all its numbers tell their decimal mark.
class OpenTable {
 public:
  OpenTable(TitleLine title, MeasuredRun base) : title_(std::move(title)), base_(std::move(base)) {}

  // False for a line that ends the table.
  bool take(std::string_view text, std::size_t number) {
    const auto cells = split_cells(text, title_.separator);
    if (cells.size() < 2 && title_.columns.size() > 1) return false;
    if (!is_unit_line(cells)) lines_.emplace_back(number, text);
    return true;
  }

  std::vector<MeasuredRun> finish(const RunFacts& facts, std::string_view stem) {
    DecimalMarks marks(title_.separator != ',');
    for (const auto& [number, text] : lines_) {
      const auto cells = split_cells(text, title_.separator);
      for (std::size_t i = 0; i < std::min(cells.size(), title_.columns.size()); ++i)
        if (is_measured(title_.columns[i].meaning)) marks.see(cells[i], is_whole(i));
    }
    if (marks.commas_are_decimal())
      base_.notes.emplace_back("commas in the numbers of this table are decimal commas");
    RecordTable table(title_.columns, std::move(base_));
    for (const auto& [number, text] : lines_) take_row(number, text, marks, table);
    return table.finish(facts, stem);
  }

 private:
  [[nodiscard]] bool is_whole(std::size_t i) const {
    const CellColumn& column = title_.columns[i];
    return column.meaning == Meaning::count ||
           (column.meaning == Meaning::size && column.unit == 1);
  }

  void take_row(std::size_t number, std::string_view text, const DecimalMarks& marks,
                RecordTable& table) const {
    std::vector<std::string_view> cells = split_cells(text, title_.separator);
    if (cells.size() != title_.columns.size()) {
      table.refuse(number, text,
                   counted(cells.size(), "cell") + " where the table has " +
                       counted(title_.columns.size(), "column"));
      return;
    }
    std::vector<std::string> plain(cells.size());
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (!is_measured(title_.columns[i].meaning)) continue;
      auto cell = marks.plain(cells[i], is_whole(i));
      if (!cell) {
        table.refuse(
            number, text,
            "\"" + printable(cells[i]) +
                "\" may mean two numbers: points and commas are not used in one way in this "
                "table");
        return;
      }
      plain[i] = std::move(*cell);
      cells[i] = plain[i];
    }
    table.take({number, cells});
  }

  TitleLine title_;
  MeasuredRun base_;
  std::vector<std::pair<std::size_t, std::string_view>> lines_;
};

void require_units(const TitleLine& title, std::string_view name, std::size_t line) {
  std::string unitless;
  if (lacks_unit(title.columns, unitless))
    throw InputError({std::string(name), "line " + std::to_string(line)},
                     "column \"" + unitless + "\" has no unit; write e.g. " + unitless + "_us or " +
                         unitless + "_s");
}

std::vector<MeasuredRun> read_delimited(std::string_view content, std::string_view name) {
  const std::string stem = std::filesystem::path(name).stem().string();
  std::vector<MeasuredRun> runs;
  std::optional<OpenTable> table;
  std::string heading;
  RunFacts facts;
  std::string cleaned;
  std::vector<RefusedLine> strays;
  const auto close = [&] {
    if (!table) return;
    for (MeasuredRun& run : table->finish(facts, stem)) runs.push_back(std::move(run));
    table.reset();
  };
  LineReader lines(content);
  for (LogLine line; lines.next(line);) {
    const std::string_view text = without_ending(line.raw.substr(0, 4096));
    if (trim(text).empty()) continue;
    if (auto title = parse_title_line(text)) {
      close();
      require_units(*title, name, line.number);
      MeasuredRun base;
      base.format = title->separator == '\t' ? "tsv" : "csv";
      base.variant = heading;
      table.emplace(std::move(*title), std::move(base));
      heading.clear();
      continue;
    }
    if (table && table->take(text, line.number)) continue;
    close();
    heading = printable(trim(text));
    if (!heading.empty() && heading.back() == ':') heading.pop_back();
    clean_line(line.raw, cleaned);
    take_fact_line(cleaned, line.number, facts);
    if (const Words words = split_words(cleaned);
        words.size > 0 && has_size_and_type(words, cleaned) && strays.size() < kMostStrays)
      strays.push_back({line.number, printable(text), "stands in no table of this file"});
  }
  close();
  if (!runs.empty())
    runs.back().refused.insert(runs.back().refused.end(), strays.begin(), strays.end());
  return runs;
}

}  // namespace

LogFormat log_format_delimited() {
  return {"csv", "CSV or TSV with titles such as collective,gpus,message_bytes,time_s", 30,
          may_be_delimited, read_delimited};
}

}  // namespace amsp
