// SPDX-License-Identifier: Apache-2.0
#include "calibrate/logs/report_context.hpp"

#include <algorithm>
#include <cctype>

#include "calibrate/logs/log_lines.hpp"
#include "calibrate/logs/log_names.hpp"

namespace amsp {
namespace {

bool is_alnum(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// Words without punctuation around them.
std::vector<std::string> plain_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (std::size_t i = 0; i <= text.size() && words.size() < 200; ++i) {
    const char c = i < text.size() ? text[i] : ' ';
    const bool dot_inside = c == '.' && i + 1 < text.size() && is_alnum(text[i + 1]);
    if (is_alnum(c) || c == '_' || dot_inside) {
      word += c;
    } else if (!word.empty()) {
      words.push_back(word);
      word.clear();
    }
  }
  return words;
}

// "8x B200/node": 8 and "B200".
struct Machine {
  int gpus = 0;
  std::string gpu;
  bool per_node = false;
};
std::optional<Machine> machine_in(std::string_view text) {
  for (std::size_t at = text.find('x'); at != std::string_view::npos; at = text.find('x', at + 1)) {
    std::size_t end_of_number = at;
    if (end_of_number > 0 && text[end_of_number - 1] == ' ') --end_of_number;
    std::size_t begin = end_of_number;
    while (begin > 0 && std::isdigit(static_cast<unsigned char>(text[begin - 1])) != 0) --begin;
    if (begin == end_of_number || (begin > 0 && is_alnum(text[begin - 1]))) continue;
    if (at + 1 >= text.size() || (text[at + 1] != ' ' && !is_alnum(text[at + 1]))) continue;
    const auto gpus = parse_whole_number(text.substr(begin, end_of_number - begin));
    const std::string_view rest = trim(text.substr(at + 1));
    const std::size_t end = rest.find_first_of("(,;/|:");
    const std::string_view gpu = trim(rest.substr(0, std::min(end, std::size_t{60})));
    if (!gpus || *gpus < 1 || *gpus > 1024 || gpu.empty() || !is_alnum(gpu[0])) continue;
    Machine machine{static_cast<int>(*gpus), std::string(gpu), false};
    machine.per_node = rest.compare(std::min(end, rest.size()), 5, "/node") == 0;
    return machine;
  }
  return std::nullopt;
}

Measure quantity_in(std::string_view lower) {
  if (contains(lower, "busbw") || contains(lower, "bus bandwidth") || contains(lower, "bus bw"))
    return Measure::busbw;
  if (contains(lower, "algbw") || contains(lower, "algorithm bandwidth")) return Measure::algbw;
  if (contains(lower, "time us") || contains(lower, "(us)") || contains(lower, "latency us") ||
      contains(lower, "time (us)") || contains(lower, "latency (us)"))
    return Measure::time;
  return Measure::none;
}

// A collective as prose names it, in up to three words ("All Reduce", "all to all").
struct NamedCollective {
  CollectiveKind kind;
  std::string text;
  bool sure = false;  // false: "reduce", "gather", "scatter" that may be plain English
};

bool begins_with_digit(const std::string& word) {
  return std::isdigit(static_cast<unsigned char>(word[0])) != 0;
}

// "Reduce", "2. Reduce, 16 GPUs", "Reduce busbw": a name. "busbw before reduce of clocks": a verb.
bool stands_as_name(const std::vector<std::string>& words, std::size_t at) {
  const auto word = words.begin() + static_cast<std::ptrdiff_t>(at);
  if (!std::all_of(words.begin(), word, begins_with_digit)) return false;
  if (word + 1 == words.end() || begins_with_digit(word[1])) return true;
  const std::string next = to_lower(word[1]);
  for (const std::string_view measure : {"busbw", "algbw", "bus", "bw", "bandwidth", "time",
                                         "latency", "on", "results", "performance", "perf"})
    if (next == measure) return true;
  return false;
}

// The first that is sure, else the first of all; longer names before shorter ones.
std::optional<NamedCollective> collective_in(const std::vector<std::string>& words) {
  std::optional<NamedCollective> vague;
  for (std::size_t i = 0; i < words.size(); ++i)
    for (std::size_t length = std::min<std::size_t>(3, words.size() - i); length > 0; --length) {
      std::string text = words[i];
      for (std::size_t j = 1; j < length; ++j) text += " " + words[i + j];
      const auto kind = collective_named(text);
      if (!kind) continue;
      const std::string last = to_lower(words[i + length - 1]);
      const bool plain = (*kind == CollectiveKind::reduce && last == "reduce") ||
                         (*kind == CollectiveKind::gather && last == "gather") ||
                         (*kind == CollectiveKind::scatter && last == "scatter");
      if (!plain || stands_as_name(words, i)) return NamedCollective{*kind, text, true};
      if (!vague) vague = NamedCollective{*kind, text, false};
    }
  return vague;
}

std::string version_in(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const bool library = words[i] == "NCCL" || words[i] == "RCCL";
    const std::string& next = words[i + 1];
    if (library && std::isdigit(static_cast<unsigned char>(next[0])) != 0 && contains(next, "."))
      return next.substr(0, 20);
  }
  return "";
}

}  // namespace

void ReportContext::take(std::string_view written) {
  std::string line(written.substr(0, 500));
  for (std::size_t at = line.find("\xc3\x97"); at != std::string::npos; at = line.find("\xc3\x97"))
    line.replace(at, 2, "x");  // "8 × H100"
  const std::size_t hashes = line.find_first_not_of('#');
  if (hashes == 0) {
    sentence_ = line.substr(0, 400);
  } else if (hashes != std::string_view::npos && line[hashes] == ' ') {
    const std::string text(trim(std::string_view(line).substr(hashes)).substr(0, 400));
    sentence_.clear();
    if (hashes == 1) {
      title_ = text;
      heading_.clear();
    } else {
      heading_ = text;
    }
  }
}

Measure ReportContext::quantity_of(std::string_view title) const {
  const std::string lower = to_lower(title.substr(0, 100));
  for (const std::string_view word : {"improv", "delta", "gap", "best", "overhead", "speed",
                                      "ratio", "diff", "%", "vs ", "gain", "change", "winner"})
    if (contains(lower, word)) return Measure::none;
  const Measure own = quantity_in(lower);
  if (own != Measure::none) return own;
  if (contains(lower, "(gb/s)"))
    return Measure::busbw == quantity_in(to_lower(text())) ? Measure::busbw : Measure::none;
  const Measure near = quantity_in(to_lower(heading_ + " " + sentence_));
  return near != Measure::none ? near : quantity_in(to_lower(title_));
}

bool ReportContext::in_place() const {
  const std::string lower = to_lower(text());
  return contains(lower, "in-place") && !contains(lower, "out-of-place");
}

void ReportContext::describe(MeasuredRun& run) const {
  std::optional<NamedCollective> named;
  for (const std::string* part : {&sentence_, &heading_, &title_})
    if (!named || !named->sure) {
      const auto found = collective_in(plain_words(*part));
      if (found && (!named || found->sure)) named = found;
    }
  if (named && !run.collective) {
    run.collective = named->kind;
    run.collective_text = named->text;
  }
  const std::string all = text();
  const std::string lower = to_lower(all);
  if (const auto machine = machine_in(all)) {
    if (run.gpu.empty()) run.gpu = machine->gpu;
    if (machine->per_node || contains(lower, "single node") || contains(lower, "one node")) {
      run.gpus_per_node = machine->gpus;
      if (!machine->per_node) run.nnodes = 1;
    }
    if (run.nnodes == 1 && !run.nranks) run.nranks = machine->gpus;
  }
  if (run.nccl_version.empty()) run.nccl_version = version_in(plain_words(all));
  for (const std::string& word : plain_words(heading_)) {
    if (run.algorithm.empty() && is_algorithm(word)) run.algorithm = algorithm_name(word);
    if (run.protocol.empty() && is_protocol(word)) run.protocol = protocol_name(word);
  }
}

void ReportContext::describe_series(std::string_view label, MeasuredRun& run) const {
  const auto words = plain_words(label);
  if (words.size() == 1 && is_algorithm(words[0])) {
    run.algorithm = algorithm_name(words[0]);
    run.protocol.clear();
  }
  if (words.size() == 1 && is_protocol(words[0])) run.protocol = protocol_name(words[0]);
  // "AllGather busbw (GB/s)" says more than the headings.
  if (const auto named = collective_in(words); named && (named->sure || !run.collective)) {
    run.collective = named->kind;
    run.collective_text = named->text;
  }
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const auto number = parse_whole_number(words[i]);
    const std::string unit = to_lower(words[i + 1]);
    if (!number || *number < 1 || *number > 1'000'000) continue;
    if (unit == "node" || unit == "nodes") run.nnodes = static_cast<int>(*number);
    if (unit == "gpu" || unit == "gpus" || unit == "ranks") run.nranks = static_cast<int>(*number);
  }
  if (run.nnodes && run.gpus_per_node && !run.nranks) run.nranks = *run.nnodes * *run.gpus_per_node;
}

}  // namespace amsp
