// SPDX-License-Identifier: Apache-2.0
// Which collective the headings, sentences and columns of a report name. Numbers are invented.
#include <catch2/catch.hpp>

#include "calibrate/logs/measurement.hpp"

using namespace amsp;
using K = CollectiveKind;

namespace {

// The collective of each column (or of the only one) of a table below these lines.
std::vector<std::optional<K>> kinds(const std::string& above,
                                    const std::vector<std::string>& columns) {
  std::string title = "| Message size |", line = "|---|", small = "| 1 MB |", large = "| 1 GB |";
  for (const std::string& column : columns) {
    title += " " + column + " |";
    line += "---|";
    small += " 51.26 |";
    large += " 105.36 |";
  }
  std::vector<std::optional<K>> found;
  for (const MeasuredRun& run : read_log_text(
           above + "\n\n" + title + "\n" + line + "\n" + small + "\n" + large + "\n", "a.md"))
    found.push_back(run.collective);
  return found;
}

using Kinds = std::vector<std::optional<K>>;

}  // namespace

TEST_CASE("columns name collectives in two words and three") {
  CHECK(kinds("Results of all_reduce on 16 GPUs",
              {"All Reduce busbw (GB/s)", "All Gather busbw (GB/s)", "Reduce Scatter busbw (GB/s)",
               "all-to-all busbw (GB/s)", "ReduceScatter busbw (GB/s)"}) ==
        Kinds{K::all_reduce, K::all_gather, K::reduce_scatter, K::all_to_all, K::reduce_scatter});
}

TEST_CASE("a lone verb in a column is no collective, a lone name is") {
  CHECK(kinds("Results of all_reduce on 16 GPUs",
              {"busbw before reduce of clocks (GB/s)", "busbw gather off (GB/s)"}) ==
        Kinds{K::all_reduce, K::all_reduce});
  CHECK(kinds("Results of all_reduce and others on 16 GPUs",
              {"AllReduce busbw (GB/s)", "Reduce busbw (GB/s)", "Gather busbw (GB/s)"}) ==
        Kinds{K::all_reduce, K::reduce, K::gather});
}

TEST_CASE("headings name collectives in two words; the nearest sure name counts") {
  const std::vector<std::string> busbw{"busbw (GB/s)"};
  CHECK(kinds("## All Reduce, 16 GPUs", busbw) == Kinds{K::all_reduce});
  CHECK(kinds("## Reduce-Scatter, 16 GPUs", busbw) == Kinds{K::reduce_scatter});
  CHECK(kinds("# All-reduce and reduce\n\n## 2. Reduce, 16 GPUs", busbw) == Kinds{K::reduce});
  CHECK(kinds("# All-reduce\n\n## 16 GPUs\n\nWe reduce the clocks first.", busbw) ==
        Kinds{K::all_reduce});
  CHECK(kinds("## 16 GPUs, one reduce", busbw) == Kinds{K::reduce});  // nothing says more
}
