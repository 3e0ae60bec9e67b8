// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/counted.hpp"
#include "base/csv.hpp"
#include "calibrate/logs/write_runs.hpp"

namespace amsp {
namespace {

std::string known(const std::optional<int>& number) {
  return number ? std::to_string(*number) : "";
}

std::string collective_of(const MeasuredRun& run) {
  return run.collective ? std::string(name_of(*run.collective)) : run.collective_text;
}

std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{:.10g}", *value) : "";
}

std::optional<double> giga(const std::optional<Bandwidth>& bandwidth) {
  if (!bandwidth) return std::nullopt;
  return bandwidth->value() * 1e-9;
}

std::optional<double> micro(const std::optional<Seconds>& time) {
  if (!time) return std::nullopt;
  return time->value() * 1e6;
}

bool present(const MeasuredTiming& timing) { return timing.time || timing.algbw || timing.busbw; }

// nccl-tests: as many decimals as fit into `width` (getFloatStr of its util.cu).
std::string fitted(const std::optional<double>& value, int width) {
  if (!value) return fmt::format("{:>{}}", "N/A", width);
  for (const int decimals : {2, 1, 0}) {
    std::string text = fmt::format("{:{}.{}f}", *value, width, decimals);
    if (static_cast<int>(text.size()) <= width) return text;
  }
  return fmt::format("{:{}.1e}", *value, width);
}

std::string half_text(const MeasuredTiming& timing) {
  return fmt::format("  {}  {}  {}  {:>6}", fitted(micro(timing.time), 7),
                     fitted(giga(timing.algbw), 6), fitted(giga(timing.busbw), 6),
                     timing.wrong ? fmt::format("{:g}", *timing.wrong) : "N/A");
}

// Node k of the run stands as node-k; neither its name nor process and bus ids are known. Without
// the number of ranks on a node only the ranks and their GPU are said.
void write_devices(const MeasuredRun& run, std::string& text) {
  constexpr int kMostListed = 4096;
  if (!run.nranks || *run.nranks > kMostListed || run.gpu.empty()) return;
  text += "# Using devices\n";
  for (int rank = 0; rank < *run.nranks; ++rank) {
    text += fmt::format("#  Rank {:2} ", rank);
    if (run.gpus_per_node) {
      text +=
          fmt::format("on {:>10} device {:2}", fmt::format("node-{}", rank / *run.gpus_per_node),
                      rank % *run.gpus_per_node);
    } else {
      text += "uses a device";
    }
    text += fmt::format(" [-] {}\n", run.gpu);
  }
  text += "#\n";
}

}  // namespace

std::string runs_to_csv(std::span<const MeasuredRun> runs) {
  std::string text =
      "file,line,collective,nranks,nnodes,gpu,nccl_version,bytes,dtype,redop,place,time_us,"
      "algbw_GBps,busbw_GBps,wrong,algorithm,protocol,channels,variant\n";
  for (const MeasuredRun& run : runs)
    for (const MeasuredRow& row : run.rows)
      for (const bool in_place : {false, true}) {
        const MeasuredTiming& half = in_place ? row.in_place : row.out_of_place;
        if (!present(half)) continue;
        text += fmt::format(
            "{},{},{},{},{},{},{},{:.0f},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(run.file),
            row.line, csv_field(collective_of(run)), known(run.nranks), known(run.nnodes),
            csv_field(run.gpu), csv_field(run.nccl_version), row.bytes.value(),
            csv_field(row.dtype_text), csv_field(row.redop), in_place ? "in_place" : "out_of_place",
            number(micro(half.time)), number(giga(half.algbw)), number(giga(half.busbw)),
            number(half.wrong), csv_field(row.algorithm.empty() ? run.algorithm : row.algorithm),
            csv_field(row.protocol.empty() ? run.protocol : row.protocol),
            known(row.channels ? row.channels : run.channels), csv_field(run.variant));
      }
  return text;
}

std::string runs_to_table(std::span<const MeasuredRun> runs) {
  std::string text;
  for (const MeasuredRun& run : runs) {
    const std::string name = collective_of(run);
    text += fmt::format("{} ({}): {}, {}{}{}{}{}\n", run.file, run.format,
                        name.empty() ? "unknown collective" : name,
                        run.nranks ? counted(*run.nranks, "rank") : "unknown number of ranks",
                        run.nnodes ? " on " + counted(*run.nnodes, "node") : "",
                        run.gpu.empty() ? "" : ", " + run.gpu,
                        run.nccl_version.empty() ? "" : ", " + run.library + " " + run.nccl_version,
                        run.variant.empty() ? "" : ", \"" + run.variant + "\"");
    text +=
        "       size B     type  redop     time us  algbw GB/s  busbw GB/s   "
        "in-place us  algbw GB/s  busbw GB/s\n";
    for (const MeasuredRow& row : run.rows) {
      text += fmt::format("{:13.0f} {:>8} {:>6}", row.bytes.value(),
                          row.dtype_text.empty() ? "-" : row.dtype_text,
                          row.redop.empty() ? "-" : row.redop);
      for (const MeasuredTiming* half : {&row.out_of_place, &row.in_place})
        text += present(*half) ? fmt::format("{:>12}{:>12}{:>12}  ", number(micro(half->time)),
                                             number(giga(half->algbw)), number(giga(half->busbw)))
                               : fmt::format("{:>12}{:>12}{:>12}  ", "-", "-", "-");
      while (text.back() == ' ') text.pop_back();
      text += "\n";
    }
    if (run.avg_busbw) text += fmt::format("average busbw {:g} GB/s\n", *giga(run.avg_busbw));
    if (!run.failure.empty()) text += "the test failed: " + run.failure + "\n";
    for (const RefusedLine& refused : run.refused)
      text += fmt::format("refused line {}: {}: {}\n", refused.line, refused.reason, refused.text);
    for (const std::string& note : run.notes) text += "note: " + note + "\n";
    text += "\n";
  }
  return text;
}

std::string run_to_nccl_tests_text(const MeasuredRun& run) {
  std::string text;
  const std::string name = collective_of(run);
  if (!name.empty()) text += "# Collective test starting: " + name + "_perf\n";
  text += fmt::format("# nThread 1 nGpus 1 minBytes {:.0f} maxBytes {:.0f}\n#\n",
                      run.rows.empty() ? 0 : run.rows.front().bytes.value(),
                      run.rows.empty() ? 0 : run.rows.back().bytes.value());
  write_devices(run, text);
  if (!run.nccl_version.empty()) text += "NCCL version " + run.nccl_version + "\n";
  text +=
      "#\n#                                                              out-of-place         "
      "              in-place          \n"
      "#       size         count      type   redop    root     time   algbw   busbw  #wrong  "
      "   time   algbw   busbw  #wrong \n"
      "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)          "
      "   (us)  (GB/s)  (GB/s)         \n";
  for (const MeasuredRow& row : run.rows)
    text +=
        fmt::format("{:12.0f}  {:12}  {:>8}  {:>6}  {:6}{}{}\n", row.bytes.value(),
                    row.count.value_or(0), row.dtype_text.empty() ? "float" : row.dtype_text,
                    row.redop.empty() ? "none" : row.redop, row.root.value_or(-1),
                    present(row.out_of_place) ? half_text(row.out_of_place) : std::string(33, ' '),
                    present(row.in_place) ? half_text(row.in_place) : "");
  if (run.out_of_bounds)
    text += fmt::format("# Out of bounds values : {} {}\n", *run.out_of_bounds,
                        *run.out_of_bounds == 0 ? "OK" : "FAILED");
  if (run.avg_busbw) text += fmt::format("# Avg bus bandwidth    : {:g} \n", *giga(run.avg_busbw));
  return text + "#\n";
}

}  // namespace amsp
