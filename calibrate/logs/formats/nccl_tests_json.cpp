// SPDX-License-Identifier: Apache-2.0
// The JSON of nccl-tests (-J, JSON_FILE_VERSION 1 to 3 of its util.cu): one object with args, env,
// config.devices, results, average_bus_bandwidth. Booleans and some numbers are strings there.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/error.hpp"
#include "base/json_value.hpp"
#include "calibrate/logs/json_documents.hpp"
#include "calibrate/logs/json_numbers.hpp"
#include "calibrate/logs/log_format.hpp"
#include "calibrate/logs/log_names.hpp"
#include "calibrate/logs/raw_run.hpp"

namespace amsp {
namespace {

std::string text_of(const JsonValue& object, std::string_view key) {
  const auto value = object.find(key);
  return value && value->is_string() ? value->as_string() : "";
}

std::optional<int> small_integer(const JsonValue& object, std::string_view key) {
  const auto number = json_number(object, key);
  if (!number || number->value < 0 || number->value > 1e7) return std::nullopt;
  return static_cast<int>(number->value);
}

void read_half(const JsonValue& result, std::string_view key, MeasuredTiming& timing,
               PrintedTiming& printed, bool& cpu_time) {
  const auto half = result.find(key);
  if (!half || !half->is_object()) return;
  printed.time = json_number(*half, "time");
  if (!printed.time) {
    printed.time = json_number(*half, "cpu_time");
    cpu_time = cpu_time || printed.time;
  }
  printed.algbw = json_number(*half, "alg_bw");
  printed.busbw = json_number(*half, "bus_bw");
  if (printed.time) timing.time = microseconds(printed.time->value);
  if (printed.algbw) timing.algbw = gigabytes_per_second(printed.algbw->value);
  if (printed.busbw) timing.busbw = gigabytes_per_second(printed.busbw->value);
  if (const auto wrong = json_number(*half, "nwrong")) timing.wrong = wrong->value;
}

void read_result(const JsonValue& result, std::size_t line, RawRun& raw) {
  ParsedRow parsed;
  parsed.row.line = line;
  const auto size = json_number(result, "size");
  const auto count = json_number(result, "count");
  if (!size || size->value < 0 || size->value > 9e15) {
    raw.run.refused.push_back({line, printable(result.dump()), "no size"});
    return;
  }
  parsed.row.bytes = Bytes(size->value);
  if (count && count->value >= 0 && count->value < 9e15)
    parsed.row.count = static_cast<std::int64_t>(count->value);
  parsed.row.dtype_text = printable(text_of(result, "type"));
  parsed.row.dtype = log_dtype(parsed.row.dtype_text);
  parsed.row.redop = to_lower(printable(text_of(result, "redop")));
  if (const auto root = small_integer(result, "root")) parsed.row.root = root;
  read_half(result, "out_of_place", parsed.row.out_of_place, parsed.out_of_place, raw.run.cpu_time);
  read_half(result, "in_place", parsed.row.in_place, parsed.in_place, raw.run.cpu_time);
  if (!parsed.out_of_place.time && !parsed.in_place.time)
    raw.run.refused.push_back({line, printable(result.dump()), "no time"});
  else
    raw.rows.push_back(std::move(parsed));
  if (raw.facts.stated_test.empty()) raw.facts.stated_test = text_of(result, "experiment_name");
}

void read_devices(const JsonValue& holder, RunFacts& facts) {
  const auto devices = holder.find("devices");
  if (!devices || !devices->is_array()) return;
  for (const JsonValue& device : devices->items()) {
    if (!device.is_object()) continue;
    DeviceLine line;
    line.rank = small_integer(device, "rank").value_or(0);
    line.group = small_integer(device, "group").value_or(0);
    line.host = text_of(device, "hostname");
    line.device = small_integer(device, "device");
    line.name = printable(trim(text_of(device, "device_info")));
    take_device(std::move(line), facts);
  }
}

void read_facts(const JsonValue& root, RawRun& raw) {
  RunFacts& facts = raw.facts;
  const auto version = json_number(root, "nccl_version");
  if (version && version->value > 0 && version->value < 1e7)
    facts.header_version = version_of_code(static_cast<long long>(version->value));
  facts.library = "NCCL";
  for (const std::string_view list : {"args", "env"})
    if (const auto words = root.find(list); words && words->is_array())
      for (const JsonValue& word : words->items())
        if (word.is_string()) take_fact_line(word.as_string(), 0, facts);
  if (const auto config = root.find("config"); config && config->is_object()) {
    facts.threads = small_integer(*config, "nthreads");
    facts.gpus_a_process = small_integer(*config, "ngpus");
    read_devices(*config, facts);
  }
  if (facts.devices.empty()) read_devices(root, facts);
  if (const auto bounds = root.find("out_of_bounds"); bounds && bounds->is_object())
    if (const auto count = json_number(*bounds, "count"); count && std::abs(count->value) < 9e15)
      raw.run.out_of_bounds = static_cast<std::int64_t>(count->value);
  if (const auto average = root.find("average_bus_bandwidth"); average && average->is_object())
    if (const auto rate = json_number(*average, "bandwidth"))
      raw.run.avg_busbw = gigabytes_per_second(rate->value);
  if (const auto errors = root.find("errors"); errors && errors->is_array())
    for (const JsonValue& error : errors->items())
      if (error.is_string() && !error.as_string().empty() && facts.failure.empty())
        facts.failure = printable(error.as_string());
}

// A document whose writer was killed: up to the last complete result.
std::optional<JsonValue> parse_cut(std::string_view document, std::string_view name) {
  const std::string closed = closed_document(document);
  if (!contains(closed, "\"out_of_place\"") && !contains(closed, "\"in_place\""))
    return std::nullopt;
  try {
    return JsonValue::parse_text(closed, name);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

bool may_be_json(std::string_view content) {
  const std::size_t first = content.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  return first != std::string_view::npos && (content[first] == '{' || content[first] == '[') &&
         (contains(content, "\"results\"") || contains(content, "\"out_of_place\"") ||
          contains(content, "\"in_place\""));
}

bool is_result(const JsonValue& value) {
  if (!value.is_object() || !value.find("size")) return false;
  for (const std::string_view half : {"out_of_place", "in_place"})
    if (const auto timing = value.find(half); timing && timing->is_object()) return true;
  return false;
}

// The runs of a file: objects of nccl-tests wherever they stand (in a list, in another program's
// object, one after another), and results that were taken out of one.
class JsonRuns {
 public:
  JsonRuns(std::string_view content, std::string_view name)
      : lines_(lines_of_key(content, "\"size\"")),
        stem_(std::filesystem::path(name).stem().string()) {}

  // The next document begins on this line: results of broken ones before it are passed over.
  void go_to(std::size_t line) {
    while (index_ < lines_.size() && lines_[index_] < line) ++index_;
  }

  void take(const JsonValue& value, const std::string& note, int depth = 0) {
    constexpr int kDeepest = 8;
    if (depth > kDeepest) return;
    if (is_result(value)) {
      read_result(value, next_line(), loose_);
    } else if (value.is_array()) {
      for (const JsonValue& item : value.items()) take(item, note, depth + 1);
    } else if (value.is_object()) {
      const auto results = value.find("results");
      const auto config = value.find("config");
      const bool run = results && results->is_array() &&
                       (value.find("nccl_version") || value.find("args") || config ||
                        results->items().empty() || is_result(results->items().front()));
      if (run) return take_run(value, *results, note);
      for (const auto& [key, member] : value.members()) take(member, note, depth + 1);
    }
  }

  std::vector<MeasuredRun> finish() {
    if (!loose_.rows.empty() || !loose_.run.refused.empty()) {
      loose_.run.notes.emplace_back(
          "results without the object around them: ranks and versions are not in the file");
      add(std::move(loose_), 1);
    }
    return std::move(runs_);
  }

 private:
  std::size_t next_line() {
    const std::size_t line = index_ < lines_.size() ? lines_[index_] : 1;
    ++index_;
    last_line_ = line;
    return line;
  }

  void take_run(const JsonValue& root, const JsonValue& results, const std::string& note) {
    RawRun raw;
    if (!note.empty()) raw.run.notes.push_back(note);
    const std::size_t first = runs_.empty() ? 1 : last_line_ + 1;
    for (const JsonValue& result : results.items())
      if (result.is_object()) read_result(result, next_line(), raw);
    read_facts(root, raw);
    add(std::move(raw), std::min(first, last_line_));
  }

  void add(RawRun raw, std::size_t first) {
    constexpr std::size_t kMostRuns = 10'000;
    if (runs_.size() >= kMostRuns) return;
    raw.run.format = "nccl-tests-json";
    raw.unit_stated = true;
    raw.run.first_line = first;
    raw.run.last_line = last_line_;
    runs_.push_back(finish_run(std::move(raw), stem_));
  }

  std::vector<std::size_t> lines_;
  std::string stem_;
  std::size_t index_ = 0, last_line_ = 1;
  RawRun loose_;
  std::vector<MeasuredRun> runs_;
};

// A document that is no JSON, for the list of refused lines.
RefusedLine refused_document(std::string_view text, std::size_t line, std::string_view message) {
  constexpr std::string_view kMark = "not JSON: ";
  if (const std::size_t at = message.find(kMark); at != std::string_view::npos)
    message.remove_prefix(at + kMark.size());
  return {line, printable(text.substr(0, text.find('\n'))),
          fmt::format("document from line {} is no JSON (its lines are counted from there): {}",
                      line, printable(message))};
}

std::vector<MeasuredRun> read_json(std::string_view content, std::string_view name) {
  constexpr std::size_t kMostRefused = 1000;
  JsonRuns runs(content, name);
  std::vector<RefusedLine> refused;
  std::optional<InputError> first_error;
  std::size_t line = 1, counted = 0;
  for (const JsonDocument& document : json_documents(content)) {
    const std::string_view before = content.substr(counted, document.begin - counted);
    line += static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
    counted = document.begin;
    runs.go_to(line);
    std::optional<JsonValue> root;
    std::string note;
    try {
      root = JsonValue::parse_text(document.text, name);
    } catch (const InputError& error) {
      root = parse_cut(document.text, name);
      note = "the file is cut short; the complete results were taken";
      if (!root && refused.size() < kMostRefused)
        refused.push_back(refused_document(document.text, line, error.what()));
      if (!root && !first_error) first_error = error;
    }
    if (root) runs.take(*root, note);
  }
  std::vector<MeasuredRun> read = runs.finish();
  // Objects that are broken: the first one's own message says where.
  if (read.empty() && first_error && contains(content, "\"results\"") &&
      content[content.find_first_of("{[")] == '{')
    throw InputError(*first_error);
  if (!read.empty())
    read.back().refused.insert(read.back().refused.end(), refused.begin(), refused.end());
  return read;
}

}  // namespace

LogFormat log_format_nccl_tests_json() {
  return {"nccl-tests-json", "the JSON that nccl-tests writes with -J", 10, may_be_json, read_json};
}

}  // namespace amsp
