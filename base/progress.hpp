// SPDX-License-Identifier: Apache-2.0
// A progress bar with an estimate of the time left, on stderr and only where that is a terminal
// (and not with --quiet). It never touches stdout, and erases itself when it is done.
#pragma once
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "base/quantity.hpp"

namespace amsp {

// One line of the bar: "simulate [#####.....] 3/6, 12 s left". The estimate is the mean time of
// the steps that are done times those that are left; none before the first is done.
std::string progress_line(std::string_view label, std::int64_t done, std::int64_t total,
                          Seconds elapsed);

class Progress {
 public:
  // `phases`: also show what progress_phase() is told.
  Progress(std::string_view label, std::int64_t total, bool phases = false);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  // May be called from several threads.
  void advance(std::int64_t steps = 1);

  void phase(std::string_view what);

 private:
  void draw();

  std::mutex mutex_;
  std::string label_;
  std::int64_t total_;
  std::int64_t done_ = 0;
  std::string phase_;
  bool shown_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_drawn_;
};

// What goes on now, behind the bar that shows phases, if there is one.
void progress_phase(std::string_view what);

}  // namespace amsp
