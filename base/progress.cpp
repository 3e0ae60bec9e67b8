// SPDX-License-Identifier: Apache-2.0
#include "base/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "base/terminal.hpp"

namespace amsp {
namespace {

constexpr int kBarWidth = 24;

// The bar that shows phases.
std::atomic<Progress*> bar_of_phases{nullptr};

std::string time_left(Seconds left) {
  const auto seconds = static_cast<std::int64_t>(std::ceil(left.value()));
  if (seconds < 120) return fmt::format("{} s left", seconds);
  if (seconds < 7200) return fmt::format("{} min left", (seconds + 59) / 60);
  return fmt::format("{:.1f} h left", left.value() / 3600);
}

}  // namespace

std::string progress_line(std::string_view label, std::int64_t done, std::int64_t total,
                          Seconds elapsed) {
  const std::int64_t last = std::max<std::int64_t>(total, 1);
  const std::int64_t now = std::clamp<std::int64_t>(done, 0, last);
  const auto filled = static_cast<std::size_t>(kBarWidth * now / last);
  std::string line = fmt::format("{} [{}{}] {}/{}", label, std::string(filled, '#'),
                                 std::string(kBarWidth - filled, '.'), now, last);
  if (now > 0 && now < last)
    line +=
        ", " + time_left(elapsed * (static_cast<double>(last - now) / static_cast<double>(now)));
  return line;
}

void progress_phase(std::string_view what) {
  if (Progress* bar = bar_of_phases) bar->phase(what);
}

Progress::Progress(std::string_view label, std::int64_t total, bool phases)
    : label_(label),
      total_(total),
      shown_(verbosity() != Verbosity::quiet && is_terminal(OutputStream::standard_error)),
      start_(std::chrono::steady_clock::now()),
      last_drawn_(start_) {
  if (phases) bar_of_phases = this;
  if (shown_) draw();
}

Progress::~Progress() {
  Progress* self = this;
  bar_of_phases.compare_exchange_strong(self, nullptr);
  if (shown_) fmt::print(stderr, "\r\x1b[K");
}

void Progress::advance(std::int64_t steps) {
  const std::lock_guard lock(mutex_);
  done_ += steps;
  if (!shown_) return;
  const auto now = std::chrono::steady_clock::now();
  if (done_ < total_ && now - last_drawn_ < std::chrono::milliseconds(100)) return;
  last_drawn_ = now;
  draw();
}

void Progress::phase(std::string_view what) {
  const std::lock_guard lock(mutex_);
  phase_ = what;
  if (shown_) draw();
}

void Progress::draw() {
  const Seconds elapsed(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count());
  fmt::print(stderr, "\r\x1b[K{}{}{}", progress_line(label_, done_, total_, elapsed),
             phase_.empty() ? "" : ": ", phase_);
  std::fflush(stderr);
}

}  // namespace amsp
