// SPDX-License-Identifier: Apache-2.0
#include "calibrate/sm_share.hpp"

#include <algorithm>
#include <cmath>

#include "calibrate/nccl_algorithm.hpp"

namespace amsp {

double sm_share(const Candidate& candidate, Bytes bytes, const GroupShape& shape,
                const Hardware& hardware) {
  if (hardware.multiprocessors <= 0 || shape.ranks < 2) return 0;
  constexpr double least_bytes = 32768.0;
  const double useful = std::ceil(bytes.value() / least_bytes);
  const double channels = candidate.algorithm->channels(shape, hardware);
  return std::min(1.0, std::clamp(useful, 1.0, channels) / hardware.multiprocessors);
}

}  // namespace amsp
