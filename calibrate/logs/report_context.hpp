// SPDX-License-Identifier: Apache-2.0
// What the headings and sentences above a table in a report say about it.
#pragma once
#include <string>
#include <string_view>

#include "calibrate/logs/measurement.hpp"
#include "calibrate/logs/run_facts.hpp"

namespace amsp {

enum class Measure { none, time, algbw, busbw };

class ReportContext {
 public:
  void take(std::string_view line);  // a heading ("## …") or a sentence before a table
  // What a column measures: its own unit, else the headings'; none for comparisons ("gap", "%").
  [[nodiscard]] Measure quantity_of(std::string_view title) const;
  [[nodiscard]] bool in_place() const;  // the text says in-place and not out-of-place
  [[nodiscard]] std::string heading() const { return heading_; }
  [[nodiscard]] RunFacts facts() const { return facts_; }
  // "8x B300 SXM6, single node, NCCL 2.29.7, all_reduce": collective, GPU, ranks, nodes, version.
  void describe(MeasuredRun& run) const;
  // "2-Node", "16 GPUs", "Ring", "LL128", "nch 8".
  void describe_series(std::string_view label, MeasuredRun& run) const;

 private:
  [[nodiscard]] std::string text() const { return title_ + " " + heading_ + " " + sentence_; }
  std::string title_, heading_, sentence_;
  RunFacts facts_;
};

}  // namespace amsp
