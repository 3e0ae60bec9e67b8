// SPDX-License-Identifier: Apache-2.0
// Collectives of forked ranks give what a direct computation gives, for random groups, sizes,
// roots and types; the check itself notices a wrong result.
#include <rapidcheck.h>
#include <rapidcheck/catch.h>

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
  rc::prop("one changed byte in the defined part is found", [] {
    CollectiveShape shape{*rc::gen::elementOf(kKinds), *rc::gen::elementOf(kSummed),
                          *rc::gen::inRange<std::int64_t>(4, 300), *rc::gen::inRange(2, 6), 0};
    const std::size_t width = static_cast<std::size_t>(size_of(shape.dtype).value());
    const int member = *rc::gen::inRange(0, shape.members);
    const Part part = output_part(shape, member);
    RC_PRE(part.count > 0);
    std::vector<std::byte> output(static_cast<std::size_t>(shape.elements) * width);
    // A right output by the definition of the sum: inputs added one after another.
    std::vector<std::byte> input(output.size()), sum(output.size());
    fill_input(shape, 0, 3, sum.data());
    for (int m = 1; m < shape.members; ++m) {
      fill_input(shape, m, 3, input.data());
      add_elements(shape.dtype, sum.data(), sum.data(), input.data(), shape.elements);
    }
    const bool sums = shape.kind == CollectiveKind::all_reduce ||
                      shape.kind == CollectiveKind::reduce ||
                      shape.kind == CollectiveKind::reduce_scatter;
    RC_PRE(sums);
    RC_ASSERT(check_output(shape, member, 3, sum.data()).empty());
    const auto at =
        static_cast<std::size_t>(*rc::gen::inRange(part.first, part.first + part.count));
    sum[at * width] ^= std::byte{1};
    RC_ASSERT(!check_output(shape, member, 3, sum.data()).empty());
  });
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
