// SPDX-License-Identifier: Apache-2.0
// A row of an nccl-tests table: from the words of a line to sizes and timings, with the header line
// where the log has one and by shape where it has none.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "calibrate/logs/log_lines.hpp"
#include "calibrate/logs/measurement.hpp"

namespace amsp {

enum class Column {
  size,
  count,
  dtype,
  redop,
  root,
  time,
  algbw,
  busbw,
  wrong,
  timestamp,  // two words: date and time of day
  algorithm,
  protocol,
  channels,
  other  // per-iteration statistics and whatever else stands there
};

struct TableColumns {
  std::vector<Column> columns;
  std::vector<std::size_t> positions;  // where the header words end in the cleaned line
  bool in_place_first = false;         // mscclpp-test
  bool in_place_only = false;
  bool cpu_time = false;
  bool before_nccl_2_4 = false;  // "bytes N type op": times in milliseconds

  [[nodiscard]] std::size_t words() const;   // of a complete row
  [[nodiscard]] std::size_t groups() const;  // 1 or 2 halves
  [[nodiscard]] bool has(Column column) const;
};

// "# size count type redop root time algbw busbw #wrong time …" → columns; nothing for other lines.
std::optional<TableColumns> parse_table_header(std::string_view cleaned);

// Type names of nccl-tests of any age; nothing for other words.
std::optional<Dtype> log_dtype(std::string_view word);

// The words of one row, gathered from one line or, where NCCL printed into it, from several.
struct RowWords {
  std::size_t line = 0;
  std::vector<std::string> words;      // from the size on
  std::vector<std::size_t> positions;  // where they end in the cleaned line
};

// Index of the size word of a row ("… size count type …"), or nothing.
std::optional<std::size_t> find_row(const Words& words);

// Numbers as printed, kept beside the row for the cross-checks.
struct PrintedTiming {
  std::optional<PrintedNumber> time, algbw, busbw;
};
struct ParsedRow {
  MeasuredRow row;
  PrintedTiming out_of_place, in_place;
  std::string note;  // e.g. "only the out-of-place half is complete"
};

// How many words are missing to a complete row (0 = complete); used to join interrupted rows.
std::size_t missing_words(const RowWords& words, const TableColumns* columns);

// A row, or the reason why the line is none.
std::variant<ParsedRow, std::string> parse_row(const RowWords& words, const TableColumns* columns);

}  // namespace amsp
