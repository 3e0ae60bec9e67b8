// SPDX-License-Identifier: Apache-2.0
// The clock of an execution: CLOCK_MONOTONIC, which all processes of one host share.
#pragma once
#include "base/quantity.hpp"

namespace amsp {

Seconds now();
// Returns at once when the moment has passed. Wakes within the kernel's timer slack.
void sleep_until(Seconds moment);
// Timer slack of the calling thread down to 1 ns (Linux's default is 50 us).
void sharpen_timers();

}  // namespace amsp
