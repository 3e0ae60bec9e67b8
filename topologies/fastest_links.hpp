// SPDX-License-Identifier: Apache-2.0
// No rate above these is read. The fastest NIC of 2026 has 1.6 Tb/s (ConnectX-9), the fastest link
// of a GPU 1.8 TB/s each way (NVLink 6): what is several times faster is a slip of the unit.
#pragma once
#include "base/quantity.hpp"

namespace amsp {

constexpr Bandwidth kFastestNic = gigabits_per_second(10000);
constexpr Bandwidth kFastestLink = gigabytes_per_second(100000);

}  // namespace amsp
