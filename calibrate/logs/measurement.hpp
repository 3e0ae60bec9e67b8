// SPDX-License-Identifier: Apache-2.0
// What a measurement log says: one MeasuredRun per table of a log (docs/formats/logs.md).
// `bytes` is always the whole buffer (base/collective_kind.hpp), whatever the log's own columns
// mean.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/collective_kind.hpp"
#include "base/dtype.hpp"
#include "base/quantity.hpp"

namespace amsp {

// One half of a row: out of place or in place. Bandwidths as printed in the log.
struct MeasuredTiming {
  std::optional<Seconds> time;
  std::optional<Bandwidth> algbw;
  std::optional<Bandwidth> busbw;
  // Wrong elements ("#wrong"), or the largest error of a log before NCCL 2.13 ("error"); empty when
  // the log did not check (N/A).
  std::optional<double> wrong;
  bool time_derived = false;  // the log gave only a bandwidth; time = bytes / algbw
};

struct MeasuredRow {
  std::size_t line = 0;  // in the source file, from 1
  Bytes bytes;
  std::optional<std::int64_t> count;  // as printed (per rank for gathers, scatters, all-to-all)
  std::optional<Dtype> dtype;
  std::string dtype_text;   // as printed: "float", "uint64"; may be empty
  std::string redop;        // "sum", "prod", "none" …; empty when the log has no such column
  std::optional<int> root;  // none when the log says -1 or nothing
  MeasuredTiming out_of_place;
  MeasuredTiming in_place;
  std::string algorithm;  // lower case: "ring", "tree", "nvls"; empty when not said
  std::string protocol;   // "LL", "LL128", "Simple"; empty when not said
  std::optional<int> channels;
};

// A line that looked like data and was not taken, or a value that contradicts the others.
struct RefusedLine {
  std::size_t line = 0;
  std::string text;  // cut to 120 characters, control characters replaced
  std::string reason;
  bool contradiction = false;  // a whole row, whose numbers contradict each other
  double factor = 0;           // of it: (bytes / time) / algbw where these are at odds
};

// NCCL's tuner in an NCCL_DEBUG=INFO log: the choice for one size …
struct TuningChoice {
  std::size_t line = 0;
  std::optional<CollectiveKind> collective;
  Bytes bytes;
  std::string algorithm;
  std::string protocol;
  std::optional<int> channels;
};

// … and a cell of its table of modelled latency and algorithm bandwidth.
struct TuningModel {
  std::size_t line = 0;
  CollectiveKind collective;
  std::string algorithm;
  std::string protocol;
  Seconds latency;
  Bandwidth algbw;
};

struct MeasuredRun {
  std::string file;
  std::string sha256;  // of the whole file
  std::string format;  // the reader that took it: "nccl-tests", "mscclpp-test", "csv" …
  std::size_t first_line = 0;
  std::size_t last_line = 0;

  std::optional<CollectiveKind> collective;
  std::string collective_text;  // as the log spells it ("all_reduce_perf", "hypercube_perf")
  std::optional<int> nranks;
  std::optional<int> nnodes;
  std::optional<int> gpus_per_node;  // ranks on each node
  std::string gpu;                   // name of the device, e.g. "NVIDIA H100 80GB HBM3"
  std::string library;               // "NCCL", "RCCL", "MSCCL++"; empty when not said
  std::string nccl_version;          // "2.22.3"; empty when not said
  std::vector<std::string> nics;     // as NCCL's INFO lines name them: "mlx5_0:1/IB", distinct
  std::optional<int> nics_per_node;
  std::string network;    // "IB", "Socket", "AWS Libfabric"; empty when not said
  std::string algorithm;  // forced by NCCL_ALGO or by the table's column; else empty
  std::string protocol;   // forced by NCCL_PROTO or by the table's column; else empty
  std::optional<int> channels;
  std::string variant;    // the column or block that the rows come from: "Default", "After" …
  bool cpu_time = false;  // -C: time to launch, not time to complete
  // Of the times as a table's title states it ("us", "ms", "s", "ns"); empty where the table proves
  // its unit (by an algbw), or has no times.
  std::string time_unit;

  std::vector<MeasuredRow> rows;  // in the order of the log; rows of zero bytes are kept
  std::optional<Bandwidth> avg_busbw;
  std::optional<std::int64_t> out_of_bounds;
  std::string failure;  // what the log says when the test failed
  std::vector<TuningChoice> tuning_choices;
  std::vector<TuningModel> tuning_models;
  std::vector<RefusedLine> refused;
  std::vector<std::string> notes;  // how unclear facts were settled, and what looks odd
};

// Reads a log of any known kind. Throws InputError when the file cannot be read, is empty, binary
// or of another kind (topology, XML), or holds no measurement. Time and memory are linear.
std::vector<MeasuredRun> read_logs(const std::filesystem::path& file);
// The same for text in memory; `name` stands for the file.
std::vector<MeasuredRun> read_log_text(std::string_view content, std::string_view name);

// One line per known kind of log ("nccl-tests: …"), for help and error messages.
std::vector<std::string> log_format_names();

}  // namespace amsp
