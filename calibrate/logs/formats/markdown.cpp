// SPDX-License-Identifier: Apache-2.0
// Markdown tables of reports: either one record a row (titles name size, time, busbw …), or a
// matrix: sizes down and variants across (or the other way round), with the measured quantity and
// the machine in the headings above.
#include <algorithm>
#include <cctype>
#include <filesystem>

#include "calibrate/logs/log_format.hpp"
#include "calibrate/logs/log_names.hpp"
#include "calibrate/logs/report_context.hpp"
#include "calibrate/logs/table_cells.hpp"

namespace amsp {
namespace {

constexpr std::size_t kMostColumns = 64;

std::vector<std::string_view> bar_cells(std::string_view line) {
  std::vector<std::string_view> cells;
  line = trim(line);
  while (!line.empty() && (line.front() == '>' || line.front() == ' ')) line.remove_prefix(1);
  if (line.empty() || line.front() != '|') return cells;
  line.remove_prefix(1);
  while (cells.size() < kMostColumns) {
    const std::size_t bar = line.find('|');
    if (bar == std::string_view::npos) {
      if (!trim(line).empty()) cells.push_back(trim(line));
      break;
    }
    cells.push_back(trim(line.substr(0, bar)));
    line.remove_prefix(bar + 1);
  }
  return cells;
}

bool is_rule(const std::vector<std::string_view>& cells) {
  return !cells.empty() && std::all_of(cells.begin(), cells.end(), [](std::string_view cell) {
    return cell.size() >= 2 && cell.find_first_not_of("-: ") == std::string_view::npos;
  });
}

bool is_border(std::string_view line) {
  return line.size() > 4 && line.front() == '+' &&
         line.find_first_not_of("+-=") == std::string_view::npos;
}

class MarkdownReader {
 public:
  explicit MarkdownReader(std::string_view stem) : stem_(stem) {}

  void take(const LogLine& line) {
    const std::string_view text = trim(line.raw.substr(0, 4096));
    if (is_border(text)) {  // "+------+-----+" of tables drawn in ASCII
      if (!titles_.empty() && !opened_) open();
      return;
    }
    const auto cells = bar_cells(text);
    if (cells.empty()) {
      close();
      if (!text.empty()) context_.take(text);
      titles_.clear();
      opened_ = false;
      return;
    }
    if (titles_.empty()) {
      for (const std::string_view cell : cells) titles_.emplace_back(cell);
      return;
    }
    if (is_rule(cells)) {
      if (!opened_) open();
      return;
    }
    if (records_) {
      records_->take({line.number, cells});
    } else if (matrix_) {
      take_matrix_row(cells, line.number);
    }
  }

  std::vector<MeasuredRun> finish() {
    close();
    return std::move(runs_);
  }

 private:
  void open() {
    opened_ = true;
    columns_.clear();
    for (const std::string& title : titles_) columns_.push_back(parse_column_title(title));
    if (RecordTable::usable(columns_)) {
      MeasuredRun base;
      base.format = "markdown";
      base.variant = context_.heading();
      context_.describe(base);
      records_.emplace(columns_, std::move(base));
      return;
    }
    quantities_.clear();
    bool measured = false;
    for (std::size_t i = 1; i < titles_.size(); ++i) {
      quantities_.push_back(context_.quantity_of(titles_[i]));
      measured = measured || quantities_.back() != Measure::none;
    }
    matrix_ = measured && !columns_.empty();
    series_.clear();
  }

  // Sizes down: a run for every column. Sizes across: a run for every row.
  void take_matrix_row(const std::vector<std::string_view>& cells, std::size_t line) {
    const auto size = columns_[0].meaning == Meaning::size
                          ? parse_size_cell(cells[0], columns_[0].unit)
                          : std::nullopt;
    for (std::size_t i = 1; i < cells.size() && i < titles_.size(); ++i) {
      const Measure quantity = quantities_[i - 1];
      if (quantity == Measure::none) continue;
      const auto across = size ? std::nullopt : parse_size_cell(titles_[i]);
      const auto value = parse_value_cell(cells[i], 1);
      if ((!size && !across) || !value) {
        // Empty cells and dashes say "not measured".
        const bool blank = cells[i].find_first_not_of("-* ") == std::string_view::npos;
        if (!blank && series_.count(size ? titles_[i] : std::string(cells[0])) != 0)
          refused_.push_back({line, printable(cells[i]), "not a number with a known size"});
        continue;
      }
      const std::string label = size ? titles_[i] : titles_[0] + " " + std::string(cells[0]);
      RawRun& raw = series_for(label, size ? titles_[i] : std::string(cells[0]), !size);
      raw.rows.push_back(row_of(line, size ? *size : *across, quantity, *value));
    }
  }

  ParsedRow row_of(std::size_t line, Bytes bytes, Measure quantity, PrintedNumber value) const {
    ParsedRow parsed;
    parsed.row.line = line;
    parsed.row.bytes = bytes;
    MeasuredTiming& timing = context_.in_place() ? parsed.row.in_place : parsed.row.out_of_place;
    PrintedTiming& printed = context_.in_place() ? parsed.in_place : parsed.out_of_place;
    if (quantity == Measure::time) {
      timing.time = microseconds(value.value);
      printed.time = value;
    } else if (quantity == Measure::busbw) {
      timing.busbw = gigabytes_per_second(value.value);
      printed.busbw = value;
    } else {
      timing.algbw = gigabytes_per_second(value.value);
      printed.algbw = value;
    }
    return parsed;
  }

  RawRun& series_for(const std::string& label, std::string_view cell, bool across) {
    const auto found = series_.find(label);
    if (found != series_.end()) return raws_[found->second];
    series_[label] = raws_.size();
    RawRun raw;
    raw.unit_stated = true;
    raw.run.format = "markdown";
    raw.run.variant = printable(label);
    context_.describe(raw.run);
    const auto number = parse_whole_number(trim(cell));
    if (across && columns_[0].meaning == Meaning::channels && number && *number < 10000)
      raw.run.channels = static_cast<int>(*number);
    context_.describe_series(
        across && number ? titles_[0] + " " + std::string(cell) : std::string(cell), raw.run);
    raws_.push_back(std::move(raw));
    return raws_.back();
  }

  void close() {
    if (records_)
      for (MeasuredRun& run : records_->finish(context_.facts(), stem_))
        runs_.push_back(std::move(run));
    for (RawRun& raw : raws_) {
      raw.run.first_line = raw.rows.front().row.line;
      raw.run.last_line = raw.rows.back().row.line;
      raw.facts = context_.facts();
      runs_.push_back(finish_run(std::move(raw), stem_));
    }
    if (!refused_.empty() && !runs_.empty())
      runs_.back().refused.insert(runs_.back().refused.end(), refused_.begin(), refused_.end());
    refused_.clear();
    raws_.clear();
    series_.clear();
    records_.reset();
    matrix_ = false;
  }

  std::string stem_;
  ReportContext context_;
  std::vector<std::string> titles_;
  std::vector<CellColumn> columns_;
  std::vector<Measure> quantities_;
  std::optional<RecordTable> records_;
  bool opened_ = false;  // the titles' rule was seen
  bool matrix_ = false;
  std::map<std::string, std::size_t> series_;
  std::vector<RawRun> raws_;
  std::vector<RefusedLine> refused_;
  std::vector<MeasuredRun> runs_;
};

bool may_be_markdown(std::string_view content) {
  const std::string_view head = content.substr(0, 1U << 20U);
  return contains(head, "|--") || contains(head, "| --") || contains(head, "|:-") ||
         contains(head, "| :-") || contains(head, "+--");
}

std::vector<MeasuredRun> read_markdown(std::string_view content, std::string_view name) {
  MarkdownReader reader(std::filesystem::path(name).stem().string());
  LineReader lines(content);
  for (LogLine line; lines.next(line);) reader.take(line);
  return reader.finish();
}

}  // namespace

LogFormat log_format_markdown() {
  return {"markdown", "Markdown or ASCII tables of sizes and times or bandwidths", 70,
          may_be_markdown, read_markdown};
}

}  // namespace amsp
