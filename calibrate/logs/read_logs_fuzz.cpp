// SPDX-License-Identifier: Apache-2.0
// The whole way of a file: which reader takes it, or why none does.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.hpp"
#include "calibrate/logs/write_runs.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const std::string_view content(reinterpret_cast<const char*>(data), size);
    amsp::runs_to_json(amsp::read_log_text(content, "fuzz.log"));
  } catch (const amsp::InputError&) {
  }
  return 0;
}
