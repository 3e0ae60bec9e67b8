// SPDX-License-Identifier: Apache-2.0
// Tables made by people and scripts (CSV, TSV, Markdown, JSON records): what a column title means,
// and cells with units.
#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/logs/log_lines.hpp"
#include "calibrate/logs/raw_run.hpp"

namespace amsp {

enum class Meaning {
  collective,
  ranks,
  nodes,
  ranks_per_node,
  nics_per_node,
  size,
  count,
  dtype,
  redop,
  root,
  time,
  algbw,
  busbw,
  wrong,
  place,
  algorithm,
  protocol,
  channels,
  gpu,
  version,
  variant,
  other
};

struct CellColumn {
  Meaning meaning = Meaning::other;
  double unit = 1;  // of a cell without its own unit, in B, µs or GB/s
  bool unit_stated = false;
  bool in_place = false;  // "in-place time (us)"
  std::string title;
};

// "message_KB", "time_s", "busbw (GB/s)", "busbw_Gbps", "#wrong", "gpus" … Titles that mean nothing
// here are `other`.
CellColumn parse_column_title(std::string_view title);

// "us" for 1: the unit of time that is so many microseconds; "" for others.
std::string_view time_unit_name(double microseconds);

// 8, 1024, 64K, 1M, 8G, 16KB, 4 MiB, 1.5G: K is 1024 as in the options of nccl-tests; "262KB" is
// 2^18 B, the power of two that it rounds. Nothing for other cells.
std::optional<Bytes> parse_size_cell(std::string_view cell, double unit = 1);

// A number, perhaps with *stars* of Markdown, thousands separators "1,234.5" and a unit of time or
// bandwidth after it; in µs or GB/s. Nothing for "-", "N/A", percentages and words.
std::optional<PrintedNumber> parse_value_cell(std::string_view cell, double unit);

// One row as cells by meaning.
struct CellRecord {
  std::size_t line = 0;
  std::vector<std::string_view> cells;  // as many as columns
};

// Records that share collective, ranks, nodes, NICs and variant become a run; records of the two
// places of one size become one row. A size that comes again opens another run.
class RecordTable {
 public:
  // `base`: what holds for all rows (format, heading as variant, machine).
  RecordTable(std::vector<CellColumn> columns, MeasuredRun base)
      : columns_(std::move(columns)), base_(std::move(base)) {}
  // Can a row of these columns be a measurement (a size, and a time or bandwidth)?
  static bool usable(const std::vector<CellColumn>& columns);
  void take(const CellRecord& record);
  void refuse(std::size_t line, std::string_view text, std::string reason);
  std::vector<MeasuredRun> finish(const RunFacts& facts, std::string_view stem);

 private:
  struct Group {
    std::string key;
    RawRun raw;
    std::map<double, std::size_t> rows_by_size;  // bytes → index of the latest row
  };
  // The groups of one key that are filled side by side: one, or in tables sorted by size as many
  // as a size has rows.
  struct Repetitions {
    std::vector<std::size_t> groups;
    std::size_t turn = 0;  // the group of the latest row
    double bytes = 0;      // its size
  };
  Group* group_for(const std::string& key, const ParsedRow& row);
  Group* open_group(const std::string& key, Repetitions& among);
  bool fill_run(const CellRecord& record, MeasuredRun& run, std::string& key, std::string& reason);
  bool fill_row(const CellRecord& record, ParsedRow& parsed, std::string& reason);
  static bool merges(const Group& group, const ParsedRow& row);
  static void add(Group& group, ParsedRow row);
  [[nodiscard]] std::string stated_time_unit() const;

  std::vector<CellColumn> columns_;
  MeasuredRun base_;
  std::size_t taken_ = 0;
  std::vector<Group> groups_;
  std::map<std::string, Repetitions> latest_;
  std::vector<RefusedLine> refused_;
};

}  // namespace amsp
