// SPDX-License-Identifier: Apache-2.0
#include "calibrate/sm_share.hpp"

#include <algorithm>
#include <cmath>

namespace amsp {

double sm_share(const Candidate& candidate, Bytes bytes, const GroupShape& shape,
                const Hardware& hardware) {
  if (hardware.multiprocessors <= 0 || shape.ranks < 2) return 0;
  int channels = shape.nodes > 1 ? hardware.channels_across : hardware.channels_inside;
  if (candidate.algorithm == Algorithm::nvls || candidate.algorithm == Algorithm::nvls_tree) {
    channels = hardware.channels_nvls;
  }
  constexpr double least_bytes = 32768.0;
  const double useful = std::ceil(bytes.value() / least_bytes);
  const double busy = std::clamp(useful, 1.0, static_cast<double>(channels));
  return std::min(1.0, busy / hardware.multiprocessors);
}

}  // namespace amsp
