// SPDX-License-Identifier: Apache-2.0
#include "exec/elements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/error.hpp"

namespace amsp {
namespace {

struct Bf16 {
  std::uint16_t bits;
  static float widen(Bf16 x) { return std::bit_cast<float>(std::uint32_t{x.bits} << 16); }
  static Bf16 narrow(float x) {  // to nearest even
    const auto bits = std::bit_cast<std::uint32_t>(x);
    return {static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16)};
  }
};

struct Fp16 {
  std::uint16_t bits;
  static float widen(Fp16 x) {
    const std::uint32_t sign = (x.bits & 0x8000U) << 16;
    const std::uint32_t magnitude = x.bits & 0x7fffU;
    if (magnitude >= 0x7c00U)  // infinity or not a number
      return std::bit_cast<float>(sign | 0x7f800000U | (magnitude & 0x3ffU) << 13);
    // Scaling by 2^112 moves the exponent's bias from 15 to 127, subnormal numbers included.
    const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112F;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(scaled));
  }
  static Fp16 narrow(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000U);
    const std::uint32_t magnitude = bits & 0x7fffffffU;
    if (magnitude >= 0x47800000U)  // 65536 and more, infinity, not a number
      return {static_cast<std::uint16_t>(sign | (magnitude > 0x7f800000U ? 0x7e00U : 0x7c00U))};
    std::uint32_t half = 0;
    if (magnitude < 0x38800000U) {  // below 2^-14: adding 0.5 rounds the subnormal into place
      const float moved = std::bit_cast<float>(magnitude) + 0.5F;
      half = std::bit_cast<std::uint32_t>(moved) - 0x3f000000U;
    } else {
      half = (magnitude - 0x38000000U + 0xfffU + ((magnitude >> 13) & 1U)) >> 13;
    }
    return {static_cast<std::uint16_t>(sign | half)};
  }
};

template <class T>
void add_native(std::byte* destination, const std::byte* a, const std::byte* b,
                std::int64_t count) {
  auto* to = reinterpret_cast<T*>(destination);
  const auto* x = reinterpret_cast<const T*>(a);
  const auto* y = reinterpret_cast<const T*>(b);
  for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(x[i] + y[i]);
}

template <class T>
void add_widened(std::byte* destination, const std::byte* a, const std::byte* b,
                 std::int64_t count) {
  auto* to = reinterpret_cast<T*>(destination);
  const auto* x = reinterpret_cast<const T*>(a);
  const auto* y = reinterpret_cast<const T*>(b);
  for (std::int64_t i = 0; i < count; ++i) to[i] = T::narrow(T::widen(x[i]) + T::widen(y[i]));
}

// Largest whole number up to which all whole numbers are exact in the type.
std::int64_t exact_up_to(Dtype dtype) {
  switch (dtype) {
    case Dtype::int8:
      return 127;
    case Dtype::uint8:
      return 255;
    case Dtype::bf16:
      return 256;
    case Dtype::fp16:
      return 2048;
    case Dtype::fp8:
      return 16;  // e4m3: 3 bits of mantissa
    default:
      return 1 << 24;
  }
}

void put(Dtype dtype, std::byte* at, std::int64_t value) {
  auto store = [at](auto x) { std::memcpy(at, &x, sizeof x); };
  switch (dtype) {
    case Dtype::bf16:
      return store(Bf16::narrow(static_cast<float>(value)));
    case Dtype::fp16:
      return store(Fp16::narrow(static_cast<float>(value)));
    case Dtype::fp32:
      return store(static_cast<float>(value));
    case Dtype::fp64:
      return store(static_cast<double>(value));
    case Dtype::int32:
      return store(static_cast<std::int32_t>(value));
    case Dtype::int64:
      return store(value);
    case Dtype::int8:
    case Dtype::uint8:
    case Dtype::fp8:  // moved, never added: any byte pattern serves
      return store(static_cast<std::uint8_t>(value));
  }
}

bool sums(CollectiveKind kind) {
  return kind == CollectiveKind::all_reduce || kind == CollectiveKind::reduce ||
         kind == CollectiveKind::reduce_scatter;
}

// The finalizer of splitmix64 (Steele, Lea, Flood 2014): neighbours get unlike numbers.
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

// Contents of a member's input. What is moved differs in any byte that all types hold exactly. Of
// what is summed each addend is 1 to 7, and where all members' would be too much for the type, only
// every n-th member gives one, another for each element.
std::int64_t input_value(const CollectiveShape& shape, int member, std::uint64_t salt,
                         std::int64_t element) {
  constexpr std::int64_t moved = 251, largest_addend = 7;
  const auto place = static_cast<std::uint64_t>(element);
  const auto index = static_cast<std::uint64_t>(member);
  const std::uint64_t mixed = mix(mix(mix(salt) + index) + place);
  if (!sums(shape.kind)) return static_cast<std::int64_t>(mixed % moved);
  const std::int64_t addends = exact_up_to(shape.dtype) / largest_addend;
  const auto every = static_cast<std::uint64_t>((shape.members + addends - 1) / addends);
  if ((index + place + salt) % every != 0) return 0;
  return static_cast<std::int64_t>(mixed % largest_addend) + 1;
}

// What the collective must leave in place `element` of the member's output.
std::int64_t expected(const CollectiveShape& shape, int member, std::uint64_t salt,
                      std::int64_t element) {
  auto input = [&](int from, std::int64_t place) { return input_value(shape, from, salt, place); };
  const std::int64_t part = part_of(shape, 0).count;
  switch (shape.kind) {
    case CollectiveKind::all_reduce:
    case CollectiveKind::reduce:
    case CollectiveKind::reduce_scatter: {
      std::int64_t sum = 0;
      for (int m = 0; m < shape.members; ++m) sum += input(m, element);
      return sum;
    }
    case CollectiveKind::all_gather:
    case CollectiveKind::gather:
      return input(static_cast<int>(element / part), element);
    case CollectiveKind::broadcast:
    case CollectiveKind::scatter:
      return input(shape.root, element);
    case CollectiveKind::all_to_all:
      return input(static_cast<int>(element / part), member * part + element % part);
    case CollectiveKind::send_recv:
      return input((member + shape.members - 1) % shape.members, element);
  }
  return 0;
}

std::size_t width(Dtype dtype) { return static_cast<std::size_t>(size_of(dtype).value()); }

}  // namespace

void add_elements(Dtype dtype, std::byte* destination, const std::byte* a, const std::byte* b,
                  std::int64_t count) {
  switch (dtype) {
    case Dtype::bf16:
      return add_widened<Bf16>(destination, a, b, count);
    case Dtype::fp16:
      return add_widened<Fp16>(destination, a, b, count);
    case Dtype::fp32:
      return add_native<float>(destination, a, b, count);
    case Dtype::fp64:
      return add_native<double>(destination, a, b, count);
    case Dtype::int8:
    case Dtype::uint8:
      return add_native<std::uint8_t>(destination, a, b, count);
    case Dtype::int32:
      return add_native<std::uint32_t>(destination, a, b, count);
    case Dtype::int64:
      return add_native<std::uint64_t>(destination, a, b, count);
    case Dtype::fp8:
      throw InputError("fp8 buffers can be moved but not summed by this backend");
  }
}

Part part_of(const CollectiveShape& shape, int member) {
  if (shape.kind == CollectiveKind::all_to_all) {
    const std::int64_t even = shape.elements / shape.members;
    return {member * even, even};
  }
  const std::int64_t part = (shape.elements + shape.members - 1) / shape.members;
  const std::int64_t first = std::min(member * part, shape.elements);
  return {first, std::min(part, shape.elements - first)};
}

Part output_part(const CollectiveShape& shape, int member) {
  const Part all{0, shape.elements};
  switch (shape.kind) {
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::scatter:
      return part_of(shape, member);
    case CollectiveKind::all_to_all:
      return {0, part_of(shape, 0).count * shape.members};
    case CollectiveKind::reduce:
    case CollectiveKind::gather:
      return member == shape.root ? all : Part{0, 0};
    default:
      return all;
  }
}

void fill_input(const CollectiveShape& shape, int member, std::uint64_t salt, std::byte* input) {
  const std::size_t size = width(shape.dtype);
  for (std::int64_t e = 0; e < shape.elements; ++e)
    put(shape.dtype, input + static_cast<std::size_t>(e) * size,
        input_value(shape, member, salt, e));
}

std::string check_output(const CollectiveShape& shape, int member, std::uint64_t salt,
                         const std::byte* output) {
  const std::size_t size = width(shape.dtype);
  const Part part = output_part(shape, member);
  for (std::int64_t e = part.first; e < part.first + part.count; ++e) {
    std::byte right[8];
    put(shape.dtype, right, expected(shape, member, salt, e));
    if (std::memcmp(right, output + static_cast<std::size_t>(e) * size, size) != 0)
      return fmt::format("element {} of {} ({} of {}) is wrong on member {}: it should be {}", e,
                         shape.elements, name_of(shape.kind), name_of(shape.dtype), member,
                         expected(shape, member, salt, e));
  }
  return "";
}

}  // namespace amsp
