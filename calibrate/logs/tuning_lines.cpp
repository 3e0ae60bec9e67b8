// SPDX-License-Identifier: Apache-2.0
// NCCL's tuner, as NCCL_DEBUG=INFO with NCCL_DEBUG_SUBSYS=TUNING prints it.
#include "calibrate/logs/log_lines.hpp"
#include "calibrate/logs/log_names.hpp"
#include "calibrate/logs/run_facts.hpp"

namespace amsp {
namespace {

constexpr std::size_t kMostLines = 100000;

// "Broadcast: 1024 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..1}", and the older
// "1024 Bytes -> Algo 1 proto 2 time 13.7" (numbers: Tree Ring CollNet…; LL LL128 Simple).
void take_choice(std::string_view noise, std::size_t line, RunFacts& facts) {
  const std::size_t arrow = noise.find(" Bytes -> Algo ");
  if (arrow == std::string_view::npos || facts.tuning_choices.size() >= kMostLines) return;
  const std::size_t size_at = noise.find_last_of(' ', arrow - 1);
  if (size_at == std::string_view::npos) return;
  const auto bytes = parse_whole_number(noise.substr(size_at + 1, arrow - size_at - 1));
  if (!bytes) return;
  TuningChoice choice;
  choice.line = line;
  choice.bytes = Bytes(static_cast<double>(*bytes));
  const std::string_view before = noise.substr(0, size_at);
  if (!before.empty() && before.back() == ':') {
    const std::size_t begin = before.find_last_of(' ');
    const std::string_view name = before.substr(begin + 1, before.size() - begin - 2);
    choice.collective = collective_named(name);
    if (choice.collective && facts.info_test.empty()) facts.info_test = name;
  }
  static constexpr std::string_view kOldAlgorithms[] = {"tree", "ring", "collnet"};
  static constexpr std::string_view kOldProtocols[] = {"LL", "LL128", "Simple"};
  const std::string_view algorithm = word_after(noise, "-> Algo ");
  const std::string_view protocol = word_after(noise, " proto ");
  const auto old_algorithm = parse_whole_number(algorithm);
  const auto old_protocol = parse_whole_number(protocol);
  choice.algorithm = old_algorithm && *old_algorithm < 3
                         ? std::string(kOldAlgorithms[*old_algorithm])
                         : algorithm_name(algorithm);
  choice.protocol = old_protocol && *old_protocol < 3 ? std::string(kOldProtocols[*old_protocol])
                                                      : protocol_name(protocol);
  const std::size_t range = noise.find("={");
  if (range != std::string_view::npos) {
    const std::string_view numbers = noise.substr(range + 2);
    const std::size_t dots = numbers.find("..");
    const std::size_t close = numbers.find('}');
    if (dots != std::string_view::npos && close != std::string_view::npos && dots + 2 < close) {
      const auto low = parse_whole_number(numbers.substr(0, dots));
      const auto high = parse_whole_number(numbers.substr(dots + 2, close - dots - 2));
      if (low && high && *high >= *low && *high < 1024)
        choice.channels = static_cast<int>(*high - *low + 1);
    }
  }
  facts.tuning_choices.push_back(std::move(choice));
}

// "     AllReduce |    16.8/   0.5 |    31.0/   0.0 | …": latency us / bandwidth GB/s for LL, LL128
// and Simple of each algorithm of the block.
void take_model(std::string_view cells, std::size_t line, RunFacts& facts) {
  const auto kind = collective_named(trim(cells.substr(0, cells.find('|'))));
  if (!kind || facts.tuning_models.size() >= kMostLines) return;
  static constexpr std::string_view kProtocols[] = {"LL", "LL128", "Simple"};
  std::size_t cell = 0;
  std::size_t at = cells.find('|');
  while (at != std::string_view::npos && cell / 3 < facts.tuning_block.size()) {
    const std::size_t end = cells.find('|', at + 1);
    const std::string_view text =
        cells.substr(at + 1, end == std::string_view::npos ? end : end - at - 1);
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) break;
    const auto latency = parse_printed_number(trim(text.substr(0, slash)));
    const auto rate = parse_printed_number(trim(text.substr(slash + 1)));
    if (!latency || !rate) break;
    if (rate->value > 0)  // 0.0: not available
      facts.tuning_models.push_back(
          {line, *kind, facts.tuning_block[cell / 3], std::string(kProtocols[cell % 3]),
           microseconds(latency->value), gigabytes_per_second(rate->value)});
    ++cell;
    at = end;
  }
}

}  // namespace

void take_tuning_line(std::string_view noise, std::size_t line, RunFacts& facts) {
  take_choice(noise, line, facts);
  const std::size_t info = noise.find("NCCL INFO ");
  if (info == std::string_view::npos || !contains(noise, "|")) return;
  const std::string_view cells = noise.substr(info + 10);
  const std::string_view label = trim(cells.substr(0, cells.find('|')));
  if (label == "Algorithm") {
    facts.tuning_block.clear();
    std::string_view rest = cells.substr(cells.find('|') + 1);
    while (facts.tuning_block.size() < 16) {
      const std::size_t end = rest.find('|');
      if (end == std::string_view::npos) break;
      const std::string_view name = trim(rest.substr(0, end));
      if (!name.empty()) facts.tuning_block.push_back(algorithm_name(name));
      rest.remove_prefix(end + 1);
    }
  } else if (!facts.tuning_block.empty()) {
    take_model(cells, line, facts);
  }
}

}  // namespace amsp
