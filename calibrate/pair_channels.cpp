// SPDX-License-Identifier: Apache-2.0
#include "calibrate/pair_channels.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "calibrate/physics.hpp"

namespace amsp {
namespace {

// What NCCL takes a channel to carry, in GB/s (NCCL_P2P_PER_CHANNEL_NET_BW); public logs show 12.5
// to 14.6 on InfiniBand (docs/model/20-collectives.md).
constexpr int channel_rate = 14;
constexpr NcclVersion counts_by_rate{2, 29, 2};

int power_of_two_from(int n) {
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::max(1, n))));
}

// 12 GB/s for 100 Gb/s, in whole GB/s (topo.h).
int nccl_rate(Bandwidth nic) {
  return std::max(1, static_cast<int>(std::floor(nic.value() * 0.96e-9)));
}

// Of the communicator: two for each channel of the search, which finds one on each NIC; four from
// Hopper on where a channel is fast, up to 16.
int channels_of_group(const GroupShape& shape, const Hardware& hardware) {
  const int channels = 2 * nics_used(shape, hardware);
  const bool modern = hardware.system.generation >= GpuGeneration::hopper;
  const bool fast = modern && nccl_rate(hardware.nic_rate) > 45;
  return power_of_two_from(fast && channels < 16 ? 2 * channels : channels);
}

}  // namespace

int channels_of_pair(const GroupShape& shape, const Hardware& hardware) {
  constexpr int partners = 8;  // sends in one batch of a channel (NCCL_MAX_DEV_WORK_P2P_PER_BATCH)
  const int nic = nccl_rate(hardware.nic_rate);
  int channels = power_of_two_from((nic + channel_rate - 1) / channel_rate);
  const int batches = (shape.ranks + partners - 1) / partners;
  while (channels > 1 && channels * batches > channels_of_group(shape, hardware)) channels /= 2;
  return channels;
}

double share_of_pair(const GroupShape& shape, const Hardware& hardware) {
  if (hardware.nccl < counts_by_rate) return 1;
  const double carried = channel_rate * channels_of_pair(shape, hardware);
  return std::min(1.0, carried / nccl_rate(hardware.nic_rate));
}

}  // namespace amsp
