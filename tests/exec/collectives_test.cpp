// SPDX-License-Identifier: Apache-2.0
// Collectives of forked ranks give what a direct computation gives, for random groups, sizes,
// roots and types; the check itself notices a wrong result.
#include <rapidcheck.h>
#include <rapidcheck/catch.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>

#include "exec/elements.hpp"
#include "exec/launch.hpp"
#include "schedules.hpp"

using namespace amsp;

namespace {

const std::vector<CollectiveKind> kKinds{
    CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
    CollectiveKind::broadcast,  CollectiveKind::reduce,     CollectiveKind::all_to_all,
    CollectiveKind::send_recv,  CollectiveKind::scatter,    CollectiveKind::gather};
const std::vector<Dtype> kSummed{Dtype::bf16, Dtype::fp16,  Dtype::fp32,  Dtype::fp64,
                                 Dtype::int8, Dtype::uint8, Dtype::int32, Dtype::int64};
constexpr std::uint64_t kSalt = 3;
using Buffer = std::vector<std::byte>;

bool sums(CollectiveKind kind) {
  return kind == CollectiveKind::all_reduce || kind == CollectiveKind::reduce ||
         kind == CollectiveKind::reduce_scatter;
}

std::size_t bytes_of(const CollectiveShape& shape, std::int64_t elements) {
  return static_cast<std::size_t>(elements) *
         static_cast<std::size_t>(size_of(shape.dtype).value());
}

// Small groups, and some of more members than the narrow types can sum ones of. fp8 is only moved.
CollectiveShape any_shape() {
  CollectiveShape shape;
  shape.kind = *rc::gen::elementOf(kKinds);
  const bool fp8 = !sums(shape.kind) && *rc::gen::inRange(0, 4) == 0;
  shape.dtype = fp8 ? Dtype::fp8 : *rc::gen::elementOf(kSummed);
  const bool many = *rc::gen::inRange(0, 4) == 0;
  shape.members = many ? *rc::gen::inRange(250, 320) : *rc::gen::inRange(2, 20);
  // An all-to-all of fewer elements than members moves nothing.
  shape.elements = *rc::gen::inRange(shape.members, shape.members + 300);
  shape.root = *rc::gen::inRange(0, shape.members);
  return shape;
}

std::vector<Buffer> inputs_of(const CollectiveShape& shape) {
  std::vector<Buffer> inputs;
  for (int member = 0; member < shape.members; ++member) {
    inputs.emplace_back(bytes_of(shape, shape.elements));
    fill_input(shape, member, kSalt, inputs.back().data());
  }
  return inputs;
}

// By the definitions: inputs added one after another, or copied from their owners.
Buffer right_output(const CollectiveShape& shape, int member, const std::vector<Buffer>& inputs) {
  const auto input = [&](int from) -> const Buffer& {
    return inputs[static_cast<std::size_t>(from)];
  };
  if (sums(shape.kind)) {
    Buffer sum = input(0);
    for (int m = 1; m < shape.members; ++m)
      add_elements(shape.dtype, sum.data(), sum.data(), input(m).data(), shape.elements);
    return sum;
  }
  if (shape.kind == CollectiveKind::send_recv)
    return input(member == 0 ? shape.members - 1 : member - 1);
  if (shape.kind == CollectiveKind::broadcast || shape.kind == CollectiveKind::scatter)
    return input(shape.root);
  Buffer output(bytes_of(shape, shape.elements));
  const bool to_all = shape.kind == CollectiveKind::all_to_all;
  for (int from = 0; from < shape.members; ++from) {
    const Part to = part_of(shape, from);  // all_gather, gather and all_to_all: by sender
    std::memcpy(
        output.data() + bytes_of(shape, to.first),
        input(from).data() + bytes_of(shape, to_all ? part_of(shape, member).first : to.first),
        bytes_of(shape, to.count));
  }
  return output;
}

}  // namespace

TEST_CASE("random collectives on random meshes give right results") {
  rc::prop("all collectives of a random schedule are right", [] {
    const int inside = *rc::gen::inRange(1, 4), across = *rc::gen::inRange(1, 4);
    ScheduleBuilder builder(inside * across, {"compute", "a", "b"});
    builder.whole_world();
    builder.communicator("inside", {{inside, true}, {across, false}});
    builder.communicator("across", {{inside, false}, {across, true}});
    const int ops = *rc::gen::inRange(1, 9);
    for (int i = 0; i < ops; ++i) {
      CollectivePart part;
      part.kind = *rc::gen::elementOf(kKinds);
      part.dtype = *rc::gen::elementOf(kSummed);
      part.communicator = CommId(*rc::gen::inRange(0, 3));
      part.bytes = size_of(part.dtype) * *rc::gen::inRange(1, 90000);
      part.root = *rc::gen::inRange(
          0, builder.schedule.communicators[part.communicator.position()].group_size());
      builder.collective("op" + std::to_string(i), part, {}, *rc::gen::inRange(1, 3));
    }
    const ExecTrace trace = run_local(builder.job());
    RC_ASSERT(trace.records.size() == static_cast<std::size_t>(ops * inside * across * 2));
  });
}

TEST_CASE("the check notices wrong, missing and shifted results") {
  rc::prop("in the output that the definition of the collective gives", [] {
    const CollectiveShape shape = any_shape();
    const int member = *rc::gen::inRange(0, shape.members);
    const std::vector<Buffer> inputs = inputs_of(shape);
    const Buffer right = right_output(shape, member, inputs);
    RC_ASSERT(check_output(shape, member, kSalt, right.data()).empty());
    const Part part = output_part(shape, member);
    if (part.count == 0) return;  // of a reduce or gather on other members than the root
    const auto width = static_cast<std::size_t>(size_of(shape.dtype).value());
    const std::size_t begin = static_cast<std::size_t>(part.first) * width;
    const std::size_t size = static_cast<std::size_t>(part.count) * width;

    Buffer wrong = right;
    wrong[*rc::gen::inRange(begin, begin + size)] ^= std::byte(1 << *rc::gen::inRange(0, 8));
    RC_ASSERT(!check_output(shape, member, kSalt, wrong.data()).empty());
    if (part.count < 32) return;  // fewer small numbers may agree by chance
    // A buffer of zeros, one that nothing was written to, and the inputs of another instance.
    for (int old : {0, 0xa5}) {
      const Buffer unwritten(right.size(), std::byte(old));
      RC_ASSERT(!check_output(shape, member, kSalt, unwritten.data()).empty());
    }
    RC_ASSERT(!check_output(shape, member, kSalt + 1, right.data()).empty());
    const std::size_t by = *rc::gen::inRange<std::size_t>(1, 9) * width;
    Buffer shifted = right;
    std::memmove(shifted.data() + begin, right.data() + begin + by, size - by);
    RC_ASSERT(!check_output(shape, member, kSalt, shifted.data()).empty());
    // Another member's data in the place of one's, or its addends missing from a sum.
    std::vector<Buffer> mixed_up = inputs;
    const auto victim = static_cast<std::size_t>(*rc::gen::inRange(0, shape.members));
    if (sums(shape.kind))
      mixed_up[victim].assign(right.size(), std::byte{0});
    else
      std::rotate(mixed_up.begin(), mixed_up.begin() + 1, mixed_up.end());
    const Buffer other = right_output(shape, member, mixed_up);
    RC_ASSERT(!check_output(shape, member, kSalt, other.data()).empty());
  });
}

TEST_CASE("sums over many members are exact in every type and no input is void") {
  for (Dtype dtype : kSummed)
    for (int members : {2, 17, 36, 37, 127, 129, 257, 2049, 5000}) {
      const CollectiveShape shape{CollectiveKind::all_reduce, dtype, 40, members, 0};
      const Buffer sum = right_output(shape, 0, inputs_of(shape));
      INFO(name_of(dtype) << ", " << members << " members");
      CHECK(check_output(shape, 0, kSalt, sum.data()).empty());
      CHECK(!check_output(shape, 0, kSalt, Buffer(sum.size()).data()).empty());
    }
}

TEST_CASE("half-precision sums round to nearest even") {
  auto bf16_sum = [](float a, float b) {
    std::uint32_t x, y;
    std::memcpy(&x, &a, 4);
    std::memcpy(&y, &b, 4);
    const auto p = static_cast<std::uint16_t>(x >> 16), q = static_cast<std::uint16_t>(y >> 16);
    std::uint16_t sum;
    add_elements(Dtype::bf16, reinterpret_cast<std::byte*>(&sum),
                 reinterpret_cast<const std::byte*>(&p), reinterpret_cast<const std::byte*>(&q), 1);
    const std::uint32_t wide = std::uint32_t{sum} << 16;
    float result;
    std::memcpy(&result, &wide, 4);
    return result;
  };
  CHECK(bf16_sum(256, 1) == 256);  // 257 lies between 256 and 258: the even mantissa wins
  CHECK(bf16_sum(258, 1) == 260);
  CHECK(bf16_sum(1, 2) == 3);
}
