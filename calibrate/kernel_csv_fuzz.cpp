// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.hpp"
#include "calibrate/kernel_calibration.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    amsp::looks_like_kernel_csv(text);
    amsp::read_kernel_csv(text, "fuzz.csv");
  } catch (const amsp::InputError&) {
  }
  return 0;
}
