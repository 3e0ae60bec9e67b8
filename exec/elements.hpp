// SPDX-License-Identifier: Apache-2.0
// Data of the collectives: sums in the schedule's element types, known contents, and the check of
// a collective's result against a direct computation from those contents.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/collective_kind.hpp"
#include "base/dtype.hpp"

namespace amsp {

// destination[i] = a[i] + b[i] for `count` elements. bf16 and fp16 add in fp32 and round to
// nearest even, as NCCL does. Throws InputError for types that have no sum here (fp8).
void add_elements(Dtype dtype, std::byte* destination, const std::byte* a, const std::byte* b,
                  std::int64_t count);

// One collective of one group, with what the direct computation needs.
struct CollectiveShape {
  CollectiveKind kind = CollectiveKind::all_reduce;
  Dtype dtype = Dtype::fp32;
  std::int64_t elements = 0;  // of the whole buffer
  int members = 1;
  int root = 0;  // index in the group
};

// The elements that belong to one member: [first, first + count) of the whole buffer, in parts of
// ceil(elements / members); the last parts may be shorter or empty. All-to-all: parts of
// floor(elements / members), what is left over is not moved (as in nccl-tests).
struct Part {
  std::int64_t first = 0, count = 0;
};
Part part_of(const CollectiveShape& shape, int member);

// Fills a member's whole input: small whole numbers that depend on member, place and `salt`, such
// that they and, where the collective sums, their sums over all members are exact in the type. Sums
// are never 0.
void fill_input(const CollectiveShape& shape, int member, std::uint64_t salt, std::byte* input);
// Empty, or what is wrong: "element 17 of 64 (all_gather of fp32) is wrong on member 1: it should
// be 5".
std::string check_output(const CollectiveShape& shape, int member, std::uint64_t salt,
                         const std::byte* output);
// The part of the output that the collective defines on this member.
Part output_part(const CollectiveShape& shape, int member);

}  // namespace amsp
