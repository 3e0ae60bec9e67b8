// SPDX-License-Identifier: Apache-2.0
// Collectives that send directly: every pair of members has its own message.
#include <gloo/transport/unbound_buffer.h>

#include <algorithm>
#include <cstring>

#include "exec/gloo/chunks.hpp"
#include "exec/gloo/group.hpp"

namespace amsp {

// All-to-all: part j of member i's input becomes part i of member j's output. Scatter has only
// the root's row of it, gather only the root's column; both keep the part's place.
void GlooGroup::exchange(const CollectiveShape& shape) {
  const bool to_all = shape.kind == CollectiveKind::all_to_all;
  const bool scatter = shape.kind == CollectiveKind::scatter;
  auto sends = [&](int from, int to) {
    return to_all || (scatter ? from == shape.root : to == shape.root);
  };
  auto span = [&](int from, int to, bool sending) -> Span {
    if (!to_all) return bytes_of(shape, scatter ? to : from);
    return bytes_of(shape, sending ? to : from);
  };
  int arriving = 0;
  std::size_t most = 0;
  for (int distance = 1; distance < members_; ++distance) {
    const int to = ring(distance), from = ring(-distance);
    if (sends(from, index_)) {
      std::uint64_t slot = next_slot_;
      const Span s = span(from, index_, false);
      for (const auto& [begin, count] : chunks(s.first, s.count)) {
        receive(output_, from, slot++, {begin, count});
        ++arriving;
      }
    }
    if (sends(index_, to)) most = std::max(most, span(index_, to, true).count);
  }
  // Chunk by chunk round the peers, so that all links start at once.
  for (std::size_t c = 0; c < (most + kChunkBytes - 1) / kChunkBytes; ++c)
    for (int distance = 1; distance < members_; ++distance) {
      const int to = ring(distance);
      if (!sends(index_, to)) continue;
      const Span s = span(index_, to, true);
      const std::size_t done = c * kChunkBytes;
      if (done < s.count)
        send(input_, to, next_slot_ + c, {s.first + done, std::min(kChunkBytes, s.count - done)});
    }
  if (sends(index_, index_)) copy_own_part(shape);
  for (; arriving > 0; --arriving) wait_receive(output_);
  wait_sends();
  next_slot_ += bytes_of(shape, 0).count / kChunkBytes + 1;  // the largest part: alike on all
}

// nccl-tests' pattern: every member sends its whole buffer to the next one.
void GlooGroup::send_recv(const CollectiveShape& shape) {
  const auto pieces = chunks(0, static_cast<std::size_t>(shape.elements) *
                                    static_cast<std::size_t>(size_of(shape.dtype).value()));
  std::uint64_t slot = next_slot_;
  for (const auto& [begin, count] : pieces) receive(output_, ring(-1), slot++, {begin, count});
  slot = next_slot_;
  for (const auto& [begin, count] : pieces) send(input_, ring(1), slot++, {begin, count});
  for (std::size_t i = 0; i < pieces.size(); ++i) wait_receive(output_);
  wait_sends();
  next_slot_ = slot;
}

}  // namespace amsp
