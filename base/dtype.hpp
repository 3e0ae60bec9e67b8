// SPDX-License-Identifier: Apache-2.0
// Element types of tensors and collectives.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/quantity.hpp"

namespace amsp {

enum class Dtype { bf16, fp16, fp32, fp64, fp8, int8, uint8, int32, int64 };

Bytes size_of(Dtype dtype);                                         // bytes per element
std::string_view name_of(Dtype dtype);                              // "bf16"
Dtype parse_dtype(std::string_view text, const Place& place = {});  // also "bfloat16", "half" …
std::vector<std::string> dtype_names();

}  // namespace amsp
