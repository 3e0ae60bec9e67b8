// SPDX-License-Identifier: Apache-2.0
#include "sim/jitter.hpp"

#include <cmath>
#include <numbers>

namespace amsp {

double jitter_factor(double deviation, std::uint64_t seed, const JitterKey& key) {
  std::uint64_t hash = mix64(seed);
  for (const std::int64_t part :
       {std::int64_t{key.place}, std::int64_t{key.op}, std::int64_t{key.instance.step},
        std::int64_t{key.instance.block}, key.instance.repetition})
    hash = mix64(hash ^ static_cast<std::uint64_t>(part));
  constexpr double unit = 0x1p-53;
  const double u = (static_cast<double>(hash >> 11) + 0.5) * unit;
  const double v = static_cast<double>(mix64(hash) >> 11) * unit;
  const double z = std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
  return std::exp(deviation * z - deviation * deviation / 2);
}

}  // namespace amsp
