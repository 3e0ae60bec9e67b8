// SPDX-License-Identifier: Apache-2.0
// One flat JSON object for each measurement: JSON lines of rccl-tests (-Z json; out-of-place and
// in-place on separate lines) and of mscclpp's performance targets, or an array of such objects.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "base/json_value.hpp"
#include "calibrate/logs/json_numbers.hpp"
#include "calibrate/logs/log_format.hpp"
#include "calibrate/logs/table_cells.hpp"

namespace amsp {
namespace {

// One table for each set of keys, so that records of one kind share columns.
class JsonRecords {
 public:
  explicit JsonRecords(std::string_view stem) : stem_(stem) {}

  void take(const JsonValue& object, std::size_t line) {
    std::vector<std::string> titles;
    std::vector<std::string> cells;
    for (const auto& [key, value] : object.members()) {
      if (value.is_object() || value.is_array() || titles.size() >= 64) continue;
      titles.push_back(key);
      if (value.is_string())
        cells.push_back(value.as_string().substr(0, 200));
      else if (value.is_number())
        cells.push_back(fmt::format("{}", value.as_number(-1e300, 1e300)));
      else
        cells.push_back(value.is_null() ? "" : value.dump());
    }
    if (!table_ || titles != titles_) {
      close();
      std::vector<CellColumn> columns;
      for (const std::string& title : titles) columns.push_back(parse_column_title(title));
      if (!RecordTable::usable(columns)) return;
      titles_ = titles;
      MeasuredRun base;
      base.format = "json-lines";
      table_.emplace(columns, std::move(base));
      // The keys that only mscclpp's targets have.
      const auto has = [&](std::string_view key) {
        return std::find(titles.begin(), titles.end(), key) != titles.end();
      };
      if (has("kernel") && has("target")) facts_.library = "MSCCL++";
    }
    table_->take({line, {cells.begin(), cells.end()}});
  }

  void refuse(std::size_t line, std::string_view text, std::string reason) {
    refused_.push_back({line, printable(text), std::move(reason)});
  }

  std::vector<MeasuredRun> finish() {
    close();
    if (!runs_.empty())
      runs_.back().refused.insert(runs_.back().refused.end(), refused_.begin(), refused_.end());
    return std::move(runs_);
  }

 private:
  void close() {
    if (!table_) return;
    for (MeasuredRun& run : table_->finish(facts_, stem_)) runs_.push_back(std::move(run));
    table_.reset();
    facts_ = RunFacts{};
  }

  std::string stem_;
  std::vector<std::string> titles_;
  std::optional<RecordTable> table_;
  RunFacts facts_;
  std::vector<RefusedLine> refused_;
  std::vector<MeasuredRun> runs_;
};

char first_character(std::string_view content) {
  const std::size_t first = content.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  return first == std::string_view::npos ? '\0' : content[first];
}

bool may_be_records(std::string_view content) {
  const char first = first_character(content);
  if (first != '{' && first != '[') return false;
  const std::string_view head = content.substr(0, 1U << 16U);
  return contains(head, "\"size\"") || contains(head, "\"bytes\"") || contains(head, "_bytes\"");
}

void take_lines(std::string_view content, std::string_view name, JsonRecords& records) {
  LineReader lines(content);
  std::size_t refused = 0;
  for (LogLine line; lines.next(line);) {
    std::string_view text = trim(line.raw);
    if (!text.empty() && text.back() == ',') text.remove_suffix(1);
    if (text.empty() || text[0] != '{') continue;
    try {
      const JsonValue value = JsonValue::parse_text(text, name);
      if (value.is_object()) records.take(value, line.number);
    } catch (const InputError&) {
      constexpr std::size_t kMostBroken = 10'000;
      if (++refused <= 100)
        records.refuse(line.number, text, line.terminated ? "not JSON" : "cut short");
      if (refused == kMostBroken) {
        records.refuse(line.number, text, "too many broken lines; the rest was not read");
        return;
      }
    }
  }
}

std::vector<MeasuredRun> read_records(std::string_view content, std::string_view name) {
  JsonRecords records(std::filesystem::path(name).stem().string());
  if (first_character(content) == '[') try {
      const JsonValue array = JsonValue::parse_text(content, name);
      const std::vector<std::size_t> lines = lines_of_key(content, "\"size\"");
      std::size_t index = 0;
      for (const JsonValue& item : array.items()) {
        if (item.is_object()) records.take(item, index < lines.size() ? lines[index] : 1);
        ++index;
      }
      return records.finish();
    } catch (const InputError&) {
      // A cut array: its complete lines still count.
    }
  take_lines(content, name, records);
  return records.finish();
}

}  // namespace

LogFormat log_format_json_records() {
  return {"json-lines", "JSON records of rccl-tests (-Z json) and mscclpp", 20, may_be_records,
          read_records};
}

}  // namespace amsp
