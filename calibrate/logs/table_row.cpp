// SPDX-License-Identifier: Apache-2.0
#include "calibrate/logs/table_row.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/counted.hpp"
#include "calibrate/logs/log_names.hpp"
#include "calibrate/logs/row_shape.hpp"

namespace amsp {
namespace {

// Tables made by hand write "Time(us)" and "BusBW".
std::optional<Column> column_named(std::string_view word) {
  const std::string name = to_lower(word.substr(0, word.size() > 1 ? word.find('(') : 1));
  if (name == "size" || name == "bytes") return Column::size;
  if (name == "count" || name == "n" || name == "elements") return Column::count;
  if (name == "type" || name == "dtype" || name == "datatype") return Column::dtype;
  if (name == "redop" || name == "op" || name == "reduction") return Column::redop;
  if (name == "root") return Column::root;
  if (name == "time" || name == "cputime") return Column::time;
  if (name == "algbw") return Column::algbw;
  if (name == "busbw") return Column::busbw;
  if (name == "#wrong" || name == "wrong" || name == "error" || name == "res" || name == "delta")
    return Column::wrong;
  if (name == "timestamp") return Column::timestamp;
  if (name == "algo" || name == "algorithm") return Column::algorithm;
  if (name == "proto" || name == "protocol") return Column::protocol;
  if (name == "nchannels" || name == "channels" || name == "nch") return Column::channels;
  if (name.size() > 2 && name.compare(0, 2, "i_") == 0) return Column::other;  // i_min, i_p99 …
  return std::nullopt;
}

bool is_alphabetic(std::string_view word) {
  return !word.empty() && std::isalpha(static_cast<unsigned char>(word[0])) != 0 &&
         !equal_ignoring_case(word, "n/a") && !equal_ignoring_case(word, "nan") &&
         !equal_ignoring_case(word, "inf");
}

// A half of a row under construction.
struct Half {
  MeasuredTiming timing;
  PrintedTiming printed;
  bool not_finite = false;  // a cell was nan or inf
  [[nodiscard]] bool any() const { return printed.time || printed.algbw || printed.busbw; }
};

// Takes one cell; false when the word does not belong there.
bool take_timing(Column column, std::string_view word, Half& half) {
  if (is_not_finite(word)) {
    half.not_finite = true;
    return true;
  }
  if (column == Column::wrong) {
    std::string_view number = word;
    while (!number.empty() && number.back() == '*')
      number.remove_suffix(1);  // rccl: over threshold
    const auto value = parse_printed_number(number);
    if (value) half.timing.wrong = value->value;
    return value || equal_ignoring_case(number, "n/a");
  }
  const auto value = parse_printed_number(word);
  if (!value || value->value < 0) return equal_ignoring_case(word, "n/a");
  if (column == Column::time) {
    half.printed.time = value;
    half.timing.time = microseconds(value->value);
  } else if (column == Column::algbw) {
    half.printed.algbw = value;
    half.timing.algbw = gigabytes_per_second(value->value);
  } else {
    half.printed.busbw = value;
    half.timing.busbw = gigabytes_per_second(value->value);
  }
  return true;
}

bool take_fact(Column column, std::string_view word, MeasuredRow& row) {
  const auto whole = parse_whole_number(word);
  switch (column) {
    case Column::size:
      if (whole) row.bytes = Bytes(static_cast<double>(*whole));
      return whole.has_value();
    case Column::count:
      row.count = whole;
      return whole.has_value();
    case Column::dtype:
      row.dtype_text = std::string(word);
      row.dtype = log_dtype(word);
      return row.dtype.has_value();
    case Column::redop:
      if (equal_ignoring_case(word, "n/a")) return true;  // an empty cell of a rewritten table
      row.redop = to_lower(word);
      return is_alphabetic(word);
    case Column::root:
      if (whole && *whole < 1000000) row.root = static_cast<int>(*whole);
      return whole || word == "-1" || equal_ignoring_case(word, "n/a");
    case Column::algorithm:
      row.algorithm = algorithm_name(word);
      return true;
    case Column::protocol:
      row.protocol = protocol_name(word);
      return true;
    case Column::channels:
      if (whole && *whole < 100000) row.channels = static_cast<int>(*whole);
      return true;
    default:
      return true;
  }
}

bool is_timing(Column column) {
  return column == Column::time || column == Column::algbw || column == Column::busbw ||
         column == Column::wrong;
}

std::string misfit(std::size_t i, std::string_view word) {
  if (word.find(',') != word.npos && word.find_first_not_of("0123456789.,") == word.npos)
    return "\"" + printable(word.substr(0, 24)) +
           "\" may mean two numbers: points and commas are not used in one way in this table";
  return "column " + std::to_string(i + 1) + " (\"" + printable(word.substr(0, 24)) +
         "\") does not fit the table";
}

// Fills a row from words and the columns they stand in; both halves in the order of the table.
std::variant<ParsedRow, std::string> fill(const RowWords& words, const std::vector<Column>& columns,
                                          bool first_is_in_place) {
  ParsedRow parsed;
  parsed.row.line = words.line;
  Half halves[2];
  int half = -1;
  std::size_t word = 0;
  for (const Column column : columns) {
    if (word >= words.words.size()) break;
    if (column == Column::time || half < 0) half += column == Column::time ? 1 : 0;
    const std::string& text = words.words[word];
    if (is_timing(column)) {
      if (!take_timing(column, text, halves[std::clamp(half, 0, 1)])) return misfit(word, text);
    } else if (!take_fact(column, text, parsed.row)) {
      return misfit(word, text);
    }
    word += column == Column::timestamp ? 2 : 1;
  }
  if (!halves[0].any() && !halves[1].any()) return std::string("no time and no bandwidth");
  const std::size_t in_place = first_is_in_place ? 0 : 1;
  parsed.row.in_place = halves[in_place].timing;
  parsed.in_place = halves[in_place].printed;
  parsed.row.out_of_place = halves[1 - in_place].timing;
  parsed.out_of_place = halves[1 - in_place].printed;
  if (halves[0].not_finite || halves[1].not_finite)
    parsed.note = "cells that are nan or inf are left out";
  return parsed;
}

void add_note(ParsedRow& parsed, const std::string& note) {
  parsed.note += (parsed.note.empty() ? "" : "; ") + note;
}

std::string truncated(std::size_t found, std::size_t expected) {
  return "cut short: " + std::to_string(found) + " of " + std::to_string(expected) + " columns";
}

// The columns up to and with the first half of the timings.
std::vector<Column> first_half(const TableColumns& table) {
  std::vector<Column> columns;
  bool seen = false;
  for (const Column column : table.columns) {
    if (column == Column::time && seen) break;
    seen = seen || column == Column::time;
    columns.push_back(column);
  }
  return columns;
}

// A row with one half only: which one is told by where its numbers stand.
bool stands_in_second_half(const RowWords& words, const TableColumns& table, std::size_t timing) {
  if (timing >= words.positions.size()) return false;
  std::size_t times = 0;
  std::size_t second = 0;
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    if (table.columns[i] == Column::time && ++times == 2)
      second = table.positions[i] - table.positions[0];
  // Ends of words, counted from the end of the size: numbers are right-aligned under their headers,
  // and a half is more than 24 characters wide.
  return second > 0 && words.positions[timing] - words.positions[0] + 8 >= second;
}

// nccl-tests prints at most two decimals: a number that shows both was not cut.
bool is_whole(std::string_view word) {
  const std::size_t point = word.find('.');
  return point != std::string_view::npos && word.size() - point == 3;
}

// A row that ends before its time keeps nothing; after it, what is surely complete.
std::variant<ParsedRow, std::string> parse_cut_row(const RowWords& words,
                                                   const TableColumns& table) {
  RowWords row = words;
  const std::string reason = truncated(words.words.size(), table.words());
  if (!row.words.empty() && !is_whole(row.words.back())) row.words.pop_back();
  std::vector<Column> columns(table.columns.begin(), table.columns.end());
  if (row.words.size() < columns.size()) columns.resize(row.words.size());
  const auto times = std::count(columns.begin(), columns.end(), Column::time);
  if (times == 0 || table.has(Column::timestamp) || table.has(Column::other)) return reason;
  if (columns.back() == Column::time && times == 2) {  // a lone time is kept in the first half only
    columns.pop_back();
    row.words.pop_back();
  }
  auto result = fill(row, columns, table.in_place_first || table.in_place_only);
  if (auto* parsed = std::get_if<ParsedRow>(&result)) add_note(*parsed, reason);
  return result;
}

std::variant<ParsedRow, std::string> parse_with_header(const RowWords& words,
                                                       const TableColumns& table) {
  const std::size_t expected = table.words();
  const std::size_t found = words.words.size();
  const bool in_place_first = table.in_place_first || table.in_place_only;
  if (found >= expected) {
    RowWords row = words;
    row.words.resize(expected);
    auto result = fill(row, table.columns, in_place_first);
    if (auto* parsed = std::get_if<ParsedRow>(&result); parsed != nullptr && found > expected)
      add_note(*parsed, counted(found - expected, "word") + " more than columns");
    return result;
  }
  const std::vector<Column> half = first_half(table);
  if (table.groups() == 2 && found == half.size()) {
    const auto timing =
        static_cast<std::size_t>(std::find(half.begin(), half.end(), Column::time) - half.begin());
    const bool second = stands_in_second_half(words, table, timing);
    auto result = fill(words, half, in_place_first != second);
    if (auto* parsed = std::get_if<ParsedRow>(&result))
      add_note(*parsed,
               second || in_place_first ? "only the in-place half" : "only the out-of-place half");
    return result;
  }
  return parse_cut_row(words, table);
}

// Without a header: size count type [redop] [root], then one or two halves of time algbw busbw
// [wrong]. A half with and without its last column is told apart by bytes / time = algbw.
double disagreement(const ParsedRow& parsed) {
  double worst = 0;
  for (const PrintedTiming* timing : {&parsed.out_of_place, &parsed.in_place}) {
    if (!timing->time || !timing->algbw || timing->time->value <= 0) continue;
    const double expected = parsed.row.bytes.value() / timing->time->value * 1e-3;  // GB/s
    worst = std::max(worst, std::abs(expected - timing->algbw->value) /
                                (std::max(expected, timing->algbw->value) + 0.02));
  }
  return worst;
}

std::variant<ParsedRow, std::string> parse_by_shape(const RowWords& words) {
  const std::size_t found = words.words.size();
  std::optional<ParsedRow> best;
  for (const bool with_root : {false, true})
    for (const std::size_t width : {std::size_t{4}, std::size_t{3}})
      for (const std::size_t groups : {std::size_t{2}, std::size_t{1}}) {
        std::vector<Column> columns{Column::size, Column::count, Column::dtype};
        if (found > 3 && is_alphabetic(words.words[3])) columns.push_back(Column::redop);
        if (with_root) columns.push_back(Column::root);
        for (std::size_t g = 0; g < groups; ++g)
          for (const Column column : {Column::time, Column::algbw, Column::busbw, Column::wrong})
            if (column != Column::wrong || width == 4) columns.push_back(column);
        if (columns.size() != found) continue;
        auto result = fill(words, columns, false);
        auto* parsed = std::get_if<ParsedRow>(&result);
        if (parsed == nullptr) continue;
        if (!best || disagreement(*parsed) < 0.5 * disagreement(*best)) best = *parsed;
      }
  if (best) return *best;
  return std::string("cut short or not a row of a known table (") + std::to_string(found) +
         " columns)";
}

}  // namespace

std::size_t TableColumns::words() const {
  return columns.size() +
         static_cast<std::size_t>(std::count(columns.begin(), columns.end(), Column::timestamp));
}

std::size_t TableColumns::groups() const {
  return static_cast<std::size_t>(std::count(columns.begin(), columns.end(), Column::busbw));
}

bool TableColumns::has(Column column) const {
  return std::find(columns.begin(), columns.end(), column) != columns.end();
}

std::optional<TableColumns> parse_table_header(std::string_view cleaned) {
  const std::string lower = to_lower(cleaned.substr(0, 400));
  if (!contains(lower, "busbw") || !contains(lower, "time")) return std::nullopt;
  const std::size_t hash = cleaned.find_first_not_of("# \t");
  if (hash == std::string_view::npos) return std::nullopt;
  TableColumns table;
  const Words words = split_words(cleaned);
  bool started = false;
  for (std::size_t i = 0; i < words.size; ++i) {
    if (words[i] == "#") continue;
    const auto column = column_named(words[i]);
    if (!column && !started) continue;  // a prefix that was not recognised
    if (!column) return std::nullopt;   // a sentence that speaks of busbw
    started = true;
    if (words[i] == "cputime") table.cpu_time = true;
    if (words[i] == "N") table.before_nccl_2_4 = true;
    table.columns.push_back(*column);
    table.positions.push_back(
        static_cast<std::size_t>(words[i].data() + words[i].size() - cleaned.data()));
  }
  if (!table.has(Column::size) || !table.has(Column::time)) return std::nullopt;
  return table;
}

std::optional<std::size_t> find_row(const Words& words) {
  for (std::size_t i = 2; i < words.size && i < 24; ++i)
    if (std::isdigit(static_cast<unsigned char>(words[i][0])) == 0 && log_dtype(words[i]) &&
        row_count(words[i - 1]) && row_size(words[i - 2]))
      return i - 2;
  return std::nullopt;
}

std::size_t missing_words(const RowWords& words, const TableColumns* columns) {
  std::size_t expected = 0;
  if (columns != nullptr) {
    expected = columns->words();
  } else {
    expected = 3 + 8;
    if (words.words.size() > 3 && is_alphabetic(words.words[3])) {
      ++expected;
      if (words.words.size() > 4 && (words.words[4] == "-1" || parse_whole_number(words.words[4])))
        ++expected;
    }
  }
  return expected > words.words.size() ? expected - words.words.size() : 0;
}

std::variant<ParsedRow, std::string> parse_row(const RowWords& words, const TableColumns* columns) {
  if (columns == nullptr) return parse_by_shape(words);
  auto result = parse_with_header(words, *columns);
  if (std::holds_alternative<ParsedRow>(result) || !columns->has(Column::dtype)) return result;
  // A header of another table (spliced logs): the row may still be one by its own shape.
  auto by_shape = parse_by_shape(words);
  return std::holds_alternative<ParsedRow>(by_shape) ? by_shape : result;
}

}  // namespace amsp
