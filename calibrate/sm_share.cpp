// SPDX-License-Identifier: Apache-2.0
#include "calibrate/sm_share.hpp"

#include <algorithm>
#include <cmath>

namespace amsp {

namespace {

// What NCCL's search finds, doubled (src/graph/connect.cc), doubled again on Hopper and later below
// 16 channels across nodes; NVLS has 16 channels (24 on Blackwell).
int channels_of(const Candidate& candidate, const GroupShape& shape, const Hardware& hardware) {
  const GpuGeneration generation = hardware.system.generation;
  const bool modern = generation == GpuGeneration::hopper || generation == GpuGeneration::blackwell;
  if (candidate.algorithm == Algorithm::nvls || candidate.algorithm == Algorithm::nvls_tree) {
    return generation == GpuGeneration::blackwell ? 24 : 16;
  }
  const NcclGraph graph = expected_graph(shape, hardware.gpu_rate, hardware.nic_rate,
                                         nics_used(shape, hardware), generation);
  int channels = 2 * graph.channels;
  if (modern && shape.nodes > 1 && channels < 16) channels *= 2;
  return std::min(channels, 64);
}

}  // namespace

double sm_share(const Candidate& candidate, Bytes bytes, const GroupShape& shape,
                const Hardware& hardware) {
  if (hardware.multiprocessors <= 0 || shape.ranks < 2) return 0;
  constexpr double least_bytes = 32768.0;
  const double useful = std::ceil(bytes.value() / least_bytes);
  const double channels = channels_of(candidate, shape, hardware);
  return std::min(1.0, std::clamp(useful, 1.0, channels) / hardware.multiprocessors);
}

}  // namespace amsp
