// SPDX-License-Identifier: Apache-2.0
#include "base/dtype.hpp"

#include <array>
#include <cstddef>

namespace amsp {
namespace {

struct Entry {
  Dtype dtype;
  std::string_view name;
  int bytes;
};
constexpr std::array kTypes{Entry{Dtype::bf16, "bf16", 2},   Entry{Dtype::fp16, "fp16", 2},
                            Entry{Dtype::fp32, "fp32", 4},   Entry{Dtype::fp64, "fp64", 8},
                            Entry{Dtype::fp8, "fp8", 1},     Entry{Dtype::int8, "int8", 1},
                            Entry{Dtype::uint8, "uint8", 1}, Entry{Dtype::int32, "int32", 4},
                            Entry{Dtype::int64, "int64", 8}};

struct Alias {
  std::string_view name;
  Dtype dtype;
};
// Names in nccl-tests output and in PyTorch.
constexpr std::array kAliases{
    Alias{"bfloat16", Dtype::bf16}, Alias{"half", Dtype::fp16},    Alias{"float16", Dtype::fp16},
    Alias{"float", Dtype::fp32},    Alias{"float32", Dtype::fp32}, Alias{"double", Dtype::fp64},
    Alias{"float64", Dtype::fp64},  Alias{"fp8_e4m3", Dtype::fp8}, Alias{"fp8_e5m2", Dtype::fp8},
    Alias{"f8e4m3", Dtype::fp8},    Alias{"f8e5m2", Dtype::fp8},   Alias{"uint32", Dtype::int32},
    Alias{"uint64", Dtype::int64},  Alias{"char", Dtype::int8}};

}  // namespace

Bytes size_of(Dtype dtype) { return Bytes(kTypes[static_cast<std::size_t>(dtype)].bytes); }
std::string_view name_of(Dtype dtype) { return kTypes[static_cast<std::size_t>(dtype)].name; }

std::vector<std::string> dtype_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kTypes) names.emplace_back(entry.name);
  return names;
}

Dtype parse_dtype(std::string_view text, const Place& place) {
  for (const Entry& entry : kTypes)
    if (entry.name == text) return entry.dtype;
  for (const Alias& alias : kAliases)
    if (alias.name == text) return alias.dtype;
  throw InputError(place, unknown_name("data type", text, dtype_names()));
}

}  // namespace amsp
