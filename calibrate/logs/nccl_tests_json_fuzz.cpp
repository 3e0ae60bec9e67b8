// SPDX-License-Identifier: Apache-2.0
#include "calibrate/logs/fuzz_format.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return amsp::fuzz_format("nccl-tests-json", data, size);
}
