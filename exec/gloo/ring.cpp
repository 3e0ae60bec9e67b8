// SPDX-License-Identifier: Apache-2.0
// Ring collectives. With n members and S bytes, a ring moves over each of its links:
// all-gather and reduce-scatter (n-1)/n S in n-1 hops, all-reduce 2(n-1)/n S in 2(n-1) hops,
// broadcast and reduce S along a chain of n-1 links.
#include <gloo/transport/unbound_buffer.h>

#include <algorithm>
#include <cstring>

#include "exec/gloo/chunks.hpp"
#include "exec/gloo/group.hpp"

namespace amsp {

void GlooGroup::run_ring(Span first, const std::vector<Hop>& hops, const CollectiveShape& shape) {
  const Dtype dtype = shape.dtype;
  const std::size_t largest_part = bytes_of(shape, 0).count;
  const int next = ring(1), previous = ring(-1);
  const auto width = static_cast<std::int64_t>(size_of(dtype).value());
  // All receives are posted at once and in order, so that the sender never waits for one.
  std::uint64_t slot = next_slot_;
  for (const Hop& hop : hops)
    for (const auto& [begin, count] : chunks(hop.span.first, hop.span.count))
      receive(hop.reduce ? scratch_ : output_, previous, slot++, {begin, count});
  std::uint64_t out_slot = next_slot_;
  for (const auto& [begin, count] : chunks(first.first, first.count))
    send(input_, next, out_slot++, {begin, count});
  for (std::size_t h = 0; h < hops.size(); ++h) {
    const Hop& hop = hops[h];
    Buffer& arrived = hop.reduce ? scratch_ : output_;
    Buffer& result = hop.reduce && !hop.last_reduce ? scratch_ : output_;
    for (const auto& [begin, count] : chunks(hop.span.first, hop.span.count)) {
      wait_receive(arrived);
      if (hop.reduce)
        add_elements(dtype, result.memory.data() + begin, scratch_.memory.data() + begin,
                     input() + begin, static_cast<std::int64_t>(count) / width);
      if (h + 1 < hops.size()) send(result, next, out_slot++, {begin, count});
    }
  }
  wait_sends();
  // Alike on all members, whose parts may differ in length.
  next_slot_ += hops.size() * (largest_part / kChunkBytes + 1);
}

void GlooGroup::all_gather(const CollectiveShape& shape) {
  copy_own_part(shape);
  std::vector<Hop> hops;
  for (int s = 0; s + 1 < members_; ++s) hops.push_back({bytes_of(shape, ring(-s - 1))});
  run_ring(bytes_of(shape, index_), hops, shape);
}

// The part that arrives last, at hop n-2, is the member's own.
void GlooGroup::reduce_scatter(const CollectiveShape& shape) {
  std::vector<Hop> hops;
  for (int s = 0; s + 1 < members_; ++s)
    hops.push_back({bytes_of(shape, ring(-s - 2)), true, s + 2 == members_});
  run_ring(bytes_of(shape, ring(-1)), hops, shape);
}

// A reduce-scatter that leaves member i with part i+1, then an all-gather of these parts.
void GlooGroup::all_reduce(const CollectiveShape& shape) {
  std::vector<Hop> hops;
  for (int s = 0; s + 1 < members_; ++s)
    hops.push_back({bytes_of(shape, ring(-s - 1)), true, s + 2 == members_});
  for (int s = 0; s + 1 < members_; ++s) hops.push_back({bytes_of(shape, ring(-s))});
  run_ring(bytes_of(shape, index_), hops, shape);
}

void GlooGroup::broadcast(const CollectiveShape& shape) {
  const std::size_t bytes = static_cast<std::size_t>(shape.elements) *
                            static_cast<std::size_t>(size_of(shape.dtype).value());
  const int place = ring(-shape.root);  // in the chain that starts at the root
  const auto pieces = chunks(0, bytes);
  std::uint64_t slot = next_slot_;
  if (place > 0)
    for (const auto& [begin, count] : pieces) receive(output_, ring(-1), slot++, {begin, count});
  slot = next_slot_;
  for (const auto& [begin, count] : pieces) {
    if (place > 0) wait_receive(output_);
    if (place + 1 < members_) send(place > 0 ? output_ : input_, ring(1), slot, {begin, count});
    ++slot;
  }
  if (place == 0) std::memcpy(output(), input(), bytes);
  wait_sends();
  next_slot_ += pieces.size();
  // The kernel buffers what is sent; without this the root would seem to end early.
  confirm((shape.root + members_ - 1) % members_);
}

// The chain runs from the member after the root round to the root.
void GlooGroup::reduce(const CollectiveShape& shape) {
  const auto width = static_cast<std::size_t>(size_of(shape.dtype).value());
  const int place = ring(-shape.root - 1);
  const auto pieces = chunks(0, static_cast<std::size_t>(shape.elements) * width);
  std::uint64_t slot = next_slot_;
  if (place > 0)
    for (const auto& [begin, count] : pieces) receive(scratch_, ring(-1), slot++, {begin, count});
  slot = next_slot_;
  for (const auto& [begin, count] : pieces) {
    if (place > 0) {
      wait_receive(scratch_);
      add_elements(shape.dtype, output() + begin, scratch_.memory.data() + begin, input() + begin,
                   static_cast<std::int64_t>(count / width));
    }
    if (place + 1 < members_) send(place > 0 ? output_ : input_, ring(1), slot, {begin, count});
    ++slot;
  }
  wait_sends();
  next_slot_ += pieces.size();
  confirm(shape.root);
}

void GlooGroup::confirm(int by) {
  const std::uint64_t slot = next_slot_++;
  if (index_ == by) {
    for (int member = 0; member < members_; ++member)
      if (member != index_) send(token_, member, slot, {0, 1});
    wait_sends();
  } else {
    receive(token_, by, slot, {0, 1});
    wait_receive(token_);
  }
}

}  // namespace amsp
