// SPDX-License-Identifier: Apache-2.0
// A calibration file that somebody edited: read, and written again when it is accepted.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.hpp"
#include "calibrate/calibration.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    amsp::to_json(amsp::parse_calibration(amsp::JsonValue::parse_text(text, "fuzz.json")));
  } catch (const amsp::InputError&) {
  }
  return 0;
}
