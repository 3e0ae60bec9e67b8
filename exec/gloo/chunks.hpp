// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace amsp {

// Unit of the pipeline: small against the messages that matter (parts of 256 KiB and more), large
// against the cost of one message in Gloo (some 20 us of processor time on both sides).
constexpr std::size_t kChunkBytes = 64 << 10;

// [first, first + count) in pieces of at most kChunkBytes: first byte and length of each.
inline std::vector<std::pair<std::size_t, std::size_t>> chunks(std::size_t first,
                                                               std::size_t count) {
  std::vector<std::pair<std::size_t, std::size_t>> pieces;
  for (std::size_t done = 0; done < count; done += kChunkBytes)
    pieces.emplace_back(first + done, std::min(kChunkBytes, count - done));
  return pieces;
}

}  // namespace amsp
