// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "calibrate/logs/log_format.hpp"
#include "calibrate/logs/log_names.hpp"
#include "calibrate/logs/row_shape.hpp"
#include "calibrate/logs/table_cells.hpp"

namespace amsp {
namespace {

constexpr std::size_t kMostRefused = 1000;
constexpr std::size_t kMostGroups = 10'000;

std::optional<int> count_cell(std::string_view cell) {
  cell = trim(cell);
  if (cell.ends_with(".0")) cell.remove_suffix(2);  // as spreadsheets and pandas write them
  const auto value = parse_whole_number(cell);
  if (!value || *value < 1 || *value > 10'000'000) return std::nullopt;
  return static_cast<int>(*value);
}

bool is_in_place(std::string_view cell) {
  const std::string word = to_lower(trim(cell).substr(0, 12));
  return word == "1" || word == "true" || word == "yes" || word == "in_place" ||
         word == "in-place" || word == "ip";
}

bool any(const PrintedTiming& timing) { return timing.time || timing.algbw || timing.busbw; }

}  // namespace

bool RecordTable::usable(const std::vector<CellColumn>& columns) {
  const auto has = [&](Meaning meaning) {
    return std::any_of(columns.begin(), columns.end(),
                       [&](const CellColumn& column) { return column.meaning == meaning; });
  };
  return has(Meaning::size) && (has(Meaning::time) || has(Meaning::busbw) || has(Meaning::algbw));
}

RecordTable::Group* RecordTable::open_group(const std::string& key, Repetitions& among) {
  if (groups_.size() >= kMostGroups) return nullptr;
  among.turn = among.groups.size();
  among.groups.push_back(groups_.size());
  groups_.push_back({key, {}, {}});
  return &groups_.back();
}

// The same measurement again is another repetition or another machine, so another run: the next
// one where the rows of a size stand together, a new one where the sizes begin again. Null: too
// many runs.
RecordTable::Group* RecordTable::group_for(const std::string& key, const ParsedRow& row) {
  Repetitions& all = latest_[key];
  const double bytes = row.row.bytes.value();
  if (all.groups.empty()) {
    all.bytes = bytes;
    return open_group(key, all);
  }
  if (all.bytes == bytes) {
    Group& latest = groups_[all.groups[all.turn]];
    if (merges(latest, row)) return &latest;
    if (all.turn + 1 == all.groups.size()) return open_group(key, all);
    return &groups_[all.groups[++all.turn]];
  }
  all.turn = 0;
  all.bytes = bytes;
  Group& first = groups_[all.groups[0]];
  if (!first.rows_by_size.contains(bytes) || merges(first, row)) return &first;
  all.groups.clear();
  return open_group(key, all);
}

// The cells that describe the run; they are its key.
bool RecordTable::fill_run(const CellRecord& record, MeasuredRun& run, std::string& key,
                           std::string& reason) {
  for (std::size_t i = 0; i < columns_.size() && i < record.cells.size(); ++i) {
    const std::string_view cell = trim(record.cells[i]);
    switch (columns_[i].meaning) {
      case Meaning::collective:
        run.collective = collective_named(cell);
        // "name" and "test" may hold anything; the other titles promise a collective.
        if (run.collective || (columns_[i].title != "name" && columns_[i].title != "test"))
          run.collective_text = printable(cell);
        break;
      case Meaning::ranks:
      case Meaning::nodes:
      case Meaning::ranks_per_node:
      case Meaning::nics_per_node: {
        if (cell.empty()) break;
        const auto number = count_cell(cell);
        if (!number) {
          reason = "\"" + printable(cell) + "\" is not a number of " + columns_[i].title;
          return false;
        }
        if (columns_[i].meaning == Meaning::ranks) run.nranks = number;
        if (columns_[i].meaning == Meaning::nodes) run.nnodes = number;
        if (columns_[i].meaning == Meaning::ranks_per_node) run.gpus_per_node = number;
        if (columns_[i].meaning == Meaning::nics_per_node) run.nics_per_node = number;
        break;
      }
      case Meaning::gpu:
        run.gpu = printable(cell);
        break;
      case Meaning::version:
        run.nccl_version = printable(cell);
        break;
      case Meaning::variant:
        if (!cell.empty()) run.variant = columns_[i].title + " " + printable(cell);
        if (columns_[i].title == "variant") run.variant = printable(cell);
        break;
      default:
        continue;
    }
    key += std::string(cell.substr(0, 80)) + '\n';
  }
  if (!run.nnodes && run.nranks && run.gpus_per_node && *run.nranks % *run.gpus_per_node == 0)
    run.nnodes = *run.nranks / *run.gpus_per_node;
  return true;
}

namespace {

// What a cell says about the row itself.
void fill_fact(Meaning meaning, std::string_view cell, MeasuredRow& row) {
  switch (meaning) {
    case Meaning::count:
      row.count = parse_whole_number(cell);
      return;
    case Meaning::dtype:
      row.dtype_text = printable(cell);
      row.dtype = log_dtype(cell);
      return;
    case Meaning::redop:
      row.redop = to_lower(printable(cell));
      return;
    case Meaning::root:
      if (const auto root = parse_whole_number(cell); root && *root < 10'000'000)
        row.root = static_cast<int>(*root);
      return;
    case Meaning::algorithm:
      row.algorithm = cell.empty() ? "" : algorithm_name(cell);
      return;
    case Meaning::protocol:
      row.protocol = cell.empty() ? "" : protocol_name(cell);
      return;
    case Meaning::channels:
      row.channels = count_cell(cell);
      return;
    default:
      return;
  }
}

void fill_timing(const CellColumn& column, std::string_view cell, MeasuredTiming& timing,
                 PrintedTiming& printed) {
  if (column.meaning == Meaning::wrong) {
    if (const auto wrong = parse_printed_number(cell)) timing.wrong = wrong->value;
    return;
  }
  const auto value = parse_value_cell(cell, column.unit);
  if (!value) return;
  if (column.meaning == Meaning::time) {
    printed.time = value;
    timing.time = microseconds(value->value);
  } else if (column.meaning == Meaning::algbw) {
    printed.algbw = value;
    timing.algbw = gigabytes_per_second(value->value);
  } else if (column.meaning == Meaning::busbw) {
    printed.busbw = value;
    timing.busbw = gigabytes_per_second(value->value);
  }
}

}  // namespace

bool RecordTable::fill_row(const CellRecord& record, ParsedRow& parsed, std::string& reason) {
  MeasuredRow& row = parsed.row;
  row.line = record.line;
  bool sized = false;
  bool in_place = false;
  const std::size_t cells = std::min(columns_.size(), record.cells.size());
  for (std::size_t i = 0; i < cells; ++i)
    if (columns_[i].meaning == Meaning::place) in_place = is_in_place(record.cells[i]);
  for (std::size_t i = 0; i < cells; ++i) {
    const CellColumn& column = columns_[i];
    const std::string_view cell = trim(record.cells[i]);
    const bool second = in_place || column.in_place;
    fill_fact(column.meaning, cell, row);
    fill_timing(column, cell, second ? row.in_place : row.out_of_place,
                second ? parsed.in_place : parsed.out_of_place);
    if (is_not_finite(cell)) parsed.note = "cells that are nan or inf are left out";
    if (column.meaning != Meaning::size) continue;
    if (const auto bytes = parse_size_cell(cell, column.unit)) {
      row.bytes = *bytes;
      sized = true;
    }
  }
  if (!sized)
    reason = "no size";
  else if (!any(parsed.out_of_place) && !any(parsed.in_place))
    reason = "no time and no bandwidth";
  return reason.empty();
}

// Two records of one size, one for each place, are the halves of a row.
// Out of place and in place in two rows are one.
bool RecordTable::merges(const Group& group, const ParsedRow& parsed) {
  const auto before = group.rows_by_size.find(parsed.row.bytes.value());
  if (before == group.rows_by_size.end()) return false;
  const ParsedRow& row = group.raw.rows[before->second];
  const bool second = any(parsed.in_place);
  return second != any(row.in_place) && any(parsed.out_of_place) != any(row.out_of_place);
}

void RecordTable::add(Group& group, ParsedRow parsed) {
  if (!merges(group, parsed)) {
    group.rows_by_size[parsed.row.bytes.value()] = group.raw.rows.size();
    group.raw.rows.push_back(std::move(parsed));
    return;
  }
  ParsedRow& row = group.raw.rows[group.rows_by_size.at(parsed.row.bytes.value())];
  if (any(parsed.in_place)) {
    row.in_place = parsed.in_place;
    row.row.in_place = parsed.row.in_place;
  } else {
    row.out_of_place = parsed.out_of_place;
    row.row.out_of_place = parsed.row.out_of_place;
  }
}

void RecordTable::take(const CellRecord& record) {
  if (++taken_ > kMostRows) {
    if (taken_ == kMostRows + 1)
      refuse(record.line, "",
             "more than " + std::to_string(kMostRows) + " rows; the rest is left out");
    return;
  }
  std::string key, reason;
  MeasuredRun facts = base_;
  ParsedRow parsed;
  if (!fill_run(record, facts, key, reason) || !fill_row(record, parsed, reason)) {
    std::string text;
    for (const std::string_view cell : record.cells)
      text += (text.empty() ? "" : " ") + std::string(cell.substr(0, 40));
    refuse(record.line, text, reason);
    return;
  }
  Group* group = group_for(key, parsed);
  if (group == nullptr)
    return refuse(parsed.row.line, "", "the same size again, and too many runs to open another");
  if (group->raw.rows.empty()) group->raw.run = facts;
  add(*group, std::move(parsed));
}

void RecordTable::refuse(std::size_t line, std::string_view text, std::string reason) {
  if (refused_.size() < kMostRefused)
    refused_.push_back({line, printable(text), std::move(reason)});
}

std::string RecordTable::stated_time_unit() const {
  for (const CellColumn& column : columns_)
    if (column.meaning == Meaning::algbw) return "";
  for (const CellColumn& column : columns_)
    if (column.meaning == Meaning::time && column.unit_stated)
      return std::string(time_unit_name(column.unit));
  return "";
}

std::vector<MeasuredRun> RecordTable::finish(const RunFacts& facts, std::string_view stem) {
  std::vector<MeasuredRun> runs;
  for (Group& group : groups_) {
    if (group.raw.rows.empty()) continue;
    group.raw.facts = facts;
    group.raw.unit_stated =
        std::all_of(columns_.begin(), columns_.end(), [](const CellColumn& column) {
          return column.meaning != Meaning::time || column.unit_stated;
        });
    group.raw.run.time_unit = stated_time_unit();
    group.raw.run.first_line = group.raw.rows.front().row.line;
    group.raw.run.last_line = group.raw.rows.back().row.line;
    runs.push_back(finish_run(std::move(group.raw), stem));
  }
  if (!runs.empty())
    runs.front().refused.insert(runs.front().refused.end(), refused_.begin(), refused_.end());
  return runs;
}

}  // namespace amsp
