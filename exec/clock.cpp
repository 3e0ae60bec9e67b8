// SPDX-License-Identifier: Apache-2.0
#include "exec/clock.hpp"

#include <sys/prctl.h>

#include <cerrno>
#include <cmath>
#include <ctime>

namespace amsp {

Seconds now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return Seconds(static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec));
}

void sleep_until(Seconds moment) {
  const double whole = std::floor(moment.value());
  timespec time{};
  time.tv_sec = static_cast<time_t>(whole);
  time.tv_nsec = static_cast<long>((moment.value() - whole) * 1e9);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) == EINTR) {
  }
}

void sharpen_timers() { prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); }

}  // namespace amsp
