// SPDX-License-Identifier: Apache-2.0
#include "sim/periodicity.hpp"

#include <cmath>

namespace amsp {
namespace {

constexpr double same_work = 1e-12;

bool alike(const ReplayMoment& a, const ReplayMoment& b) {
  if (a.places != b.places || a.running.size() != b.running.size()) return false;
  for (std::size_t i = 0; i < a.running.size(); ++i) {
    const TaskProgress& x = a.running[i];
    const TaskProgress& y = b.running[i];
    if (x.task != y.task || x.phase != y.phase || std::abs(x.remaining - y.remaining) > same_work)
      return false;
  }
  return true;
}

}  // namespace

std::optional<Seconds> Periodicity::note(ReplayMoment moment) {
  std::optional<Seconds> period;
  if (last_ && last_->anchor.step == moment.anchor.step &&
      last_->anchor.block == moment.anchor.block &&
      last_->anchor.repetition + 1 == moment.anchor.repetition && last_->earliest >= 1 &&
      alike(*last_, moment))
    period = moment.time - last_->time;
  last_ = std::move(moment);
  return period;
}

std::optional<Seconds> Periodicity::note_step(ReplayMoment moment) {
  std::optional<Seconds> period;
  if (last_step_ && last_step_->anchor.step + 1 == moment.anchor.step && alike(*last_step_, moment))
    period = moment.time - last_step_->time;
  last_step_ = std::move(moment);
  return period;
}

}  // namespace amsp
