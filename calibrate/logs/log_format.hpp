// SPDX-License-Identifier: Apache-2.0
// A kind of measurement log: one file in calibrate/logs/formats/, which defines
// `LogFormat log_format_STEM()` (cmake/layer.cmake collects them).
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/logs/measurement.hpp"

namespace amsp {

// A benchmark prints a few hundred rows; far more than that is no benchmark's log, and would fill
// the memory.
inline constexpr std::size_t kMostRows = 200'000;

struct LogFormat {
  std::string name;         // "nccl-tests"
  std::string description;  // one line
  // Readers are tried in this order, smallest first; the first that finds a run takes the file.
  int order = 0;
  // Cheap: may this be one? Sees the whole text.
  bool (*may_be)(std::string_view content) = nullptr;
  // All runs of the text; empty when there is none. `name` is the file as given. Throws InputError
  // only where the file is certainly of this kind and broken.
  std::vector<MeasuredRun> (*read)(std::string_view content, std::string_view name) = nullptr;
};

std::vector<LogFormat> log_formats();

}  // namespace amsp
