// SPDX-License-Identifier: Apache-2.0
// What a reader hands over: rows as printed plus facts. finish_run() settles what the log leaves
// open (collective, ranks, nodes, units), cross-checks each row and refuses the contradictory ones.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/logs/measurement.hpp"
#include "calibrate/logs/run_facts.hpp"
#include "calibrate/logs/table_row.hpp"

namespace amsp {

struct RawRun {
  MeasuredRun run;  // what is known already; rows are empty
  std::vector<ParsedRow> rows;
  RunFacts facts;
  bool milliseconds_expected = false;  // a table of nccl-tests before NCCL 2.4
  bool unit_stated = false;            // the log has a unit line (or the format fixes the unit)
};

// `stem` is the file's name without folder: the last resort for collective and ranks.
MeasuredRun finish_run(RawRun raw, std::string_view stem);

// Steps of finish_run, in order.
void settle_units(RawRun& raw);
// The table's own evidence; `old_gather`: algbw counts only the (n-1)/n part that moves
// (all_gather, reduce_scatter, hypercube of nccl-tests before June 2020).
struct TableEvidence {
  std::optional<std::int64_t> parts;  // size / (count x type size): 1, or the ranks
  bool any_redop = false;             // a real reduction in some row
  bool redop_column = false;
  bool rooted = false;
  bool in_place_unchecked = false;  // in-place N/A where out-of-place was checked
  bool old_gather = false;
  double factor_low = 0, factor_high = 0;  // busbw / algbw; 0, 0 when the rows do not tell
  [[nodiscard]] bool has_factor() const { return factor_high > 0; }
};
TableEvidence table_evidence(const RawRun& raw);
void settle_collective(RawRun& raw, const TableEvidence& evidence, std::string_view stem);
void settle_ranks(RawRun& raw, const TableEvidence& evidence, std::string_view stem);
void settle_nodes(RawRun& raw, std::string_view stem);
void check_rows(RawRun& raw, const TableEvidence& evidence);

// nThread x nGpus of the header line; 1 where the log has none.
int ranks_of_a_process(const RunFacts& facts);
inline constexpr std::int64_t kMostRanks = 10'000'000;

// "…-2n16g-…" in a file name: 2 nodes, 16 ranks.
struct NamedShape {
  int nodes, ranks;
};
std::optional<NamedShape> shape_in_name(std::string_view stem);

}  // namespace amsp
