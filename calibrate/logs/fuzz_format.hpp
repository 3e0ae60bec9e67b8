// SPDX-License-Identifier: Apache-2.0
// The body of the fuzz targets of the log readers (docs/fuzzing.md).
#pragma once
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.hpp"
#include "calibrate/logs/log_format.hpp"
#include "calibrate/logs/write_runs.hpp"

namespace amsp {

// Reads the bytes with one reader, whatever they are, and prints what it found in every form. Bad
// input may be refused; nothing may crash, and what is kept must make sense.
inline int fuzz_format(std::string_view format_name, const std::uint8_t* data, std::size_t size) {
  const std::string_view content(reinterpret_cast<const char*>(data), size);
  for (const LogFormat& format : log_formats()) {
    if (format.name != format_name) continue;
    try {
      format.may_be(content);
      const std::vector<MeasuredRun> runs = format.read(content, "fuzz-1n8g-all_reduce.txt");
      for (const MeasuredRun& run : runs) {
        if (run.nranks && *run.nranks < 1) __builtin_trap();
        if (run.nnodes && *run.nnodes < 1) __builtin_trap();
        for (const MeasuredRow& row : run.rows)
          if (!(row.bytes.value() >= 0)) __builtin_trap();
        run_to_nccl_tests_text(run);
      }
      runs_to_json(runs);
      runs_to_csv(runs);
      runs_to_table(runs);
    } catch (const InputError&) {
    }
    return 0;
  }
  __builtin_trap();  // no such format
}

}  // namespace amsp
