// SPDX-License-Identifier: Apache-2.0
// Seeded noise: a log-normal factor with mean 1 that depends on nothing but its key, so that the
// order of events does not matter.
#pragma once
#include <cstdint>

#include "sim/program.hpp"

namespace amsp {

struct JitterKey {
  int place;  // GPU or group
  int op;
  Instance instance;
};

// exp(s·z − s²/2), z standard normal by Box and Muller from two hashes (splitmix64) of the key.
double jitter_factor(double deviation, std::uint64_t seed, const JitterKey& key);

// Steele, Lea, Flood: splitmix64's finaliser.
constexpr std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace amsp
