// SPDX-License-Identifier: Apache-2.0
// The text output of nccl-tests and rccl-tests of any age, and of mscclpp-test, which prints the
// same table without types and in-place first.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>

#include "base/error.hpp"
#include "calibrate/logs/launcher_streams.hpp"
#include "calibrate/logs/log_format.hpp"
#include "calibrate/logs/log_lines.hpp"
#include "calibrate/logs/log_names.hpp"
#include "calibrate/logs/parted_rows.hpp"
#include "calibrate/logs/raw_run.hpp"
#include "calibrate/logs/row_marks.hpp"
#include "calibrate/logs/row_shape.hpp"

namespace amsp {
namespace {

constexpr std::size_t kMostRuns = 10'000;

enum class Stage { nothing, header, devices, table, rows, footer };

class TextReader {
 public:
  TextReader(std::string_view name, const DecimalMarks& marks)
      : name_(name), stem_(std::filesystem::path(name).stem().string()), marks_(marks) {}

  void take(const LogLine& line) {
    clean_line(line.raw, cleaned_);
    if (cleaned_.empty()) return;
    line_ = line.number;
    const bool facts_possible = may_hold_facts(cleaned_);
    const NoiseSplit split = facts_possible ? split_nccl_noise(cleaned_) : NoiseSplit{cleaned_, {}};
    if (!split.noise.empty()) {
      take_fact_line(cleaned_, line_, facts());
    }
    if (!trim(split.data).empty())
      take_data(with_blanks_between(split.data, parted_, table_ ? table_->columns.size() : 0),
                facts_possible);
  }

  std::vector<MeasuredRun> finish() {
    end_run(true);
    if (meaningful_) return std::move(runs_);
    // Something looked like rows, but none was one: say which, instead of a run of nothing.
    for (const MeasuredRun& run : runs_)
      if (!run.refused.empty())
        throw InputError({name_, "line " + std::to_string(run.refused[0].line)},
                         "no row of a measurement in this file; the first that looks like one is " +
                             run.refused[0].reason + ": " + run.refused[0].text);
    return {};
  }

 private:
  RunFacts& facts() { return stage_ == Stage::footer ? next_facts_ : raw_.facts; }

  void take_data(std::string_view text, bool facts_possible) {
    if (take_row(text)) return;
    if (facts_possible && (take_header(text) || take_footer(text))) return;
    if (take_elision(text)) return;
    if (take_broken_row(text)) return;
    if (facts_possible) take_fact_line(text, line_, facts());
  }

  // --- header ---

  bool take_header(std::string_view text) {
    if (contains(text, "nThread") && contains(text, "minBytes")) {
      begin_stage(Stage::header, raw_.facts.threads.has_value());
      take_fact_line(text, line_, raw_.facts);
      return true;
    }
    if (contains(text, "Collective test starting") || contains(text, "nccl-tests version")) {
      begin_stage(Stage::header, !raw_.facts.stated_test.empty() || raw_.facts.threads.has_value());
      take_fact_line(text, line_, raw_.facts);
      return true;
    }
    if (contains(text, "Rank ") && contains(text, "device") && contains(text, "[")) {
      if (stage_ > Stage::devices) begin_stage(Stage::devices, true);
      if (take_device_line(text, raw_.facts)) {
        stage_ = std::max(stage_, Stage::devices);
        touch();
        return true;
      }
    }
    return take_table_header(text);
  }

  bool take_table_header(std::string_view text) {
    if (auto table = parse_table_header(text)) {
      begin_stage(Stage::table, stage_ > Stage::table || !raw_.rows.empty());
      table->in_place_first = in_place_line_ && in_place_first_;
      table->in_place_only = table->groups() == 1 && in_place_line_ && in_place_only_;
      raw_.run.cpu_time = table->cpu_time;
      raw_.milliseconds_expected = table->before_nccl_2_4;
      if (!table->has(Column::dtype)) raw_.run.format = "mscclpp-test";
      table_ = std::move(table);
      return true;
    }
    const std::size_t in_place = text.find("in-place");
    const bool titles = in_place != std::string_view::npos &&
                        text.find_first_of("0123456789=:") == std::string_view::npos;
    if (titles) {
      const std::size_t out = text.find("out-of-place");
      in_place_line_ = true;
      in_place_only_ = out == std::string_view::npos;
      in_place_first_ = !in_place_only_ && in_place < out;
      return true;
    }
    if (contains(text, "(B)") && contains(text, "(GB/s)")) {
      raw_.unit_stated = true;
      in_place_line_ = false;
      return true;
    }
    return false;
  }

  bool take_footer(std::string_view text) {
    const bool bounds = contains(text, "Out of bounds values");
    const bool average = contains(text, "Avg bus bandwidth");
    const std::size_t colon = text.find(':', text.find(average ? "Avg bus" : "Out of"));
    if (!bounds && !average) {
      if (!contains(text, "Collective test concluded")) return false;
      flush_pending();
      take_fact_line(text, line_, raw_.facts);
      if (stage_ != Stage::nothing) stage_ = Stage::footer;
      return true;
    }
    flush_pending();
    touch();
    stage_ = Stage::footer;
    const Words words = split_words(colon == std::string_view::npos ? "" : text.substr(colon + 1));
    if (words.size == 0) return true;
    if (average) {
      if (const auto value = parse_printed_number(plain_cell(words[0], marks_, false)))
        raw_.run.avg_busbw = gigabytes_per_second(value->value);
    } else if (const auto value = parse_whole_number(words[0])) {
      raw_.run.out_of_bounds = *value;
    }
    return true;
  }

  bool take_elision(std::string_view text) {
    const std::size_t begin = text.find_first_not_of("# \t");
    const std::string_view rest = begin == std::string_view::npos ? "" : trim(text.substr(begin));
    const bool elided = rest == "..." || rest == "\xe2\x80\xa6" || rest == "[...]" ||
                        rest == "(...)" || rest == "<snip>" || rest == "[snip]";
    if (!elided) return false;
    if (stage_ == Stage::devices || stage_ == Stage::header) {
      raw_.facts.devices_elided = true;
      raw_.facts.devices_open_end = true;
    } else if (stage_ == Stage::rows || stage_ == Stage::table) {
      flush_pending();
      note("line " + std::to_string(line_) + ": rows left out in the log (\"...\")");
    }
    return true;
  }

  // --- rows ---

  bool untyped_table() const { return table_ && !table_->has(Column::dtype); }

  bool take_row(std::string_view text) {
    const Words words = split_words(text);
    std::size_t first = 0;
    if (const auto at = find_row(words)) {
      first = *at;
    } else if (!untyped_table() || words.size < 3 || !untyped_size(words[0]) ||
               !all_numbers(words, 1)) {
      return continue_row(words);
    }
    if (stage_ == Stage::footer) begin_run();
    flush_pending();
    touch();
    stage_ = Stage::rows;
    if (++rows_ > kMostRows)
      throw InputError({name_, "line " + std::to_string(line_)},
                       "more than " + std::to_string(kMostRows) + " rows; split the file");
    pending_ = RowWords{};
    pending_->line = line_;
    append(words, first, text);
    return true;
  }

  static bool all_numbers(const Words& words, std::size_t from = 0) {
    for (std::size_t i = from; i < words.size; ++i)
      if (!is_number_cell(words[i])) return false;
    return words.size > from;
  }

  // The rest of a row that NCCL's lines tore apart.
  bool continue_row(const Words& words) {
    if (!pending_ || !all_numbers(words)) return false;
    if (words.size > missing_words(*pending_, table_ ? &*table_ : nullptr)) return false;
    const std::size_t have = pending_->words.size();
    pending_->positions.resize(have, 0);
    append(words, 0, {});
    return true;
  }

  void append(const Words& words, std::size_t first, std::string_view text) {
    for (std::size_t i = first; i < words.size; ++i) {
      const bool is_size = pending_->words.empty();
      const bool whole = pending_->words.size() == 1 && !untyped_table();
      pending_->words.push_back(is_size ? size_cell(words[i])
                                        : plain_cell(words[i].substr(0, 40), marks_, whole));
      if (!text.empty())
        pending_->positions.push_back(
            static_cast<std::size_t>(words[i].data() + words[i].size() - text.data()));
    }
    if (missing_words(*pending_, table_ ? &*table_ : nullptr) == 0) flush_pending();
  }

  // find_row() has seen that it is a size.
  std::string size_cell(std::string_view word) {
    const std::string bytes = std::to_string(untyped_size(word).value_or(0));
    if (!sizes_noted_ && std::isalpha(static_cast<unsigned char>(word.back())) != 0) {
      note("line " + std::to_string(line_) + ": the size " + printable(word) + " is taken as " +
           bytes + " B, so K, M and G as powers of 1024");
      sizes_noted_ = true;
    }
    return bytes;
  }

  void flush_pending() {
    if (!pending_) return;
    const RowWords words = std::move(*pending_);
    pending_.reset();
    auto parsed = parse_row(words, table_ ? &*table_ : nullptr);
    if (auto* row = std::get_if<ParsedRow>(&parsed)) {
      raw_.rows.push_back(std::move(*row));
      return;
    }
    std::string text;
    for (const std::string& word : words.words) text += (text.empty() ? "" : " ") + word;
    refuse(words.line, text, std::get<std::string>(parsed));
  }

  // Numbers in a table that are no row (cut by the end of the file or by hand), and what looks like
  // a row wherever it stands.
  bool take_broken_row(std::string_view text) {
    const bool in_table = stage_ == Stage::rows || stage_ == Stage::table;
    const Words words = split_words(text);
    if (!has_size_and_type(words, text) &&
        !(in_table && (looks_like_row(words) || is_numbers(words))))
      return false;
    flush_pending();
    refuse(line_, text, why_no_row(words, table_ ? table_->words() : 0));
    return true;
  }

  void refuse(std::size_t line, std::string_view text, std::string reason) {
    constexpr std::size_t kMost = 1000;
    if (raw_.run.refused.size() < kMost)
      raw_.run.refused.push_back({line, printable(text), std::move(reason)});
  }

  void note(std::string text) {
    constexpr std::size_t kMost = 100;
    if (raw_.run.notes.size() < kMost) raw_.run.notes.push_back(std::move(text));
  }

  // --- runs ---

  void touch() {
    if (raw_.run.first_line == 0) raw_.run.first_line = line_;
    raw_.run.last_line = line_;
  }

  // A header line opens a run when the one being read is past that stage (or has such a line).
  void begin_stage(Stage stage, bool repeated) {
    flush_pending();
    if (stage_ == Stage::footer || stage_ == Stage::rows ||
        (stage_ > stage && stage_ != Stage::devices) || repeated)
      begin_run();
    stage_ = std::max(stage_, stage);
    touch();
  }

  void begin_run() {
    end_run(false);
    // What holds for the whole file goes on; what describes one run does not.
    RunFacts carried;
    const RunFacts& old = last_facts_;
    carried.library = old.library;
    carried.library_version = old.library_version;
    carried.network = old.network;
    carried.nics = old.nics;
    carried.nics_per_node = old.nics_per_node;
    carried.info_hosts = old.info_hosts;
    carried.launched_ranks = old.launched_ranks;
    carried.command_test = old.command_test;
    carried.algorithm = next_facts_.command_test.empty() ? old.algorithm : next_facts_.algorithm;
    carried.protocol = next_facts_.command_test.empty() ? old.protocol : next_facts_.protocol;
    if (!next_facts_.command_test.empty()) carried.command_test = next_facts_.command_test;
    if (next_facts_.launched_ranks) carried.launched_ranks = next_facts_.launched_ranks;
    if (!next_facts_.library_version.empty()) carried.library_version = next_facts_.library_version;
    next_facts_ = RunFacts{};
    raw_.facts = std::move(carried);
  }

  void end_run(bool last) {
    flush_pending();
    last_facts_ = raw_.facts;
    const bool tuner = !raw_.facts.tuning_choices.empty() || !raw_.facts.tuning_models.empty();
    // A job that died before its first header line is still a run, one that failed.
    const bool died = !raw_.facts.failure.empty() && runs_.empty();
    // A header line alone that another follows: a build without MPI prints one for each process.
    const bool header_only = stage_ == Stage::header && !last;
    const bool worth = died || !raw_.rows.empty() || !raw_.run.refused.empty() || table_ ||
                       (raw_.facts.threads && !header_only) || raw_.run.avg_busbw || tuner;
    meaningful_ = meaningful_ || died || raw_.facts.threads || tuner;
    if (marks_.commas_are_decimal() && !raw_.rows.empty())
      note("commas in the numbers of this table are decimal commas");
    if (worth && runs_.size() < kMostRuns) {
      if (raw_.run.format.empty()) raw_.run.format = "nccl-tests";
      runs_.push_back(finish_run(std::move(raw_), stem_));
      meaningful_ = meaningful_ || !runs_.back().rows.empty();
    }
    raw_ = RawRun{};
    table_.reset();
    in_place_line_ = false;
    sizes_noted_ = false;
    stage_ = Stage::nothing;
  }

  std::string name_, stem_;
  DecimalMarks marks_;
  std::string cleaned_, parted_;
  std::size_t rows_ = 0;
  std::size_t line_ = 0;
  Stage stage_ = Stage::nothing;
  RawRun raw_;
  RunFacts next_facts_, last_facts_;
  std::optional<TableColumns> table_;
  bool meaningful_ = false;  // some run has rows, a header, a failure or the tuner's lines
  bool sizes_noted_ = false;
  bool in_place_line_ = false, in_place_first_ = false, in_place_only_ = false;
  std::optional<RowWords> pending_;
  std::vector<MeasuredRun> runs_;
};

bool may_be_text(std::string_view) { return true; }

// A reader for each label; lines without one of the labels go to the first.
std::vector<MeasuredRun> read_streams(std::string_view content, std::string_view name,
                                      const std::vector<std::string>& labels) {
  std::vector<TextReader> readers(labels.size(), TextReader(name, marks_of_rows(content)));
  std::map<std::string, std::size_t, std::less<>> index;
  for (std::size_t i = 0; i < labels.size(); ++i) index[labels[i]] = i;
  LineReader lines(content);
  for (LogLine line; lines.next(line);) {
    const auto found = index.find(launcher_label(line.raw));
    readers[found == index.end() ? 0 : found->second].take(line);
  }
  std::vector<MeasuredRun> runs;
  for (std::size_t i = 0; i < readers.size(); ++i)
    for (MeasuredRun& run : readers[i].finish()) {
      run.notes.push_back("the lines labelled \"" + printable(labels[i]) + "\" of " +
                          std::to_string(labels.size()) + " programs in this log");
      runs.push_back(std::move(run));
    }
  return runs;
}

std::vector<MeasuredRun> read_text(std::string_view content, std::string_view name) {
  const std::vector<std::string> labels = header_labels(content);
  if (labels.size() > 1) return read_streams(content, name, labels);
  TextReader reader(name, marks_of_rows(content));
  LineReader lines(content);
  for (LogLine line; lines.next(line);) reader.take(line);
  return reader.finish();
}

}  // namespace

LogFormat log_format_nccl_tests_text() {
  return {"nccl-tests", "text output of nccl-tests, rccl-tests or mscclpp-test", 50, may_be_text,
          read_text};
}

}  // namespace amsp
