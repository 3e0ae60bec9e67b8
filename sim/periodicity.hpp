// SPDX-License-Identifier: Apache-2.0
// When a repeated block has become periodic. Two moments are alike when every stream and
// communicator stands at the same place relative to the repetition, and the same tasks run with
// the same work left (to 1e-12 of the task). As the schedule ahead is the same too, everything
// that follows repeats until a stream leaves the block (docs/model/60-folding.md).
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/engine.hpp"
#include "sim/program.hpp"

namespace amsp {

// The whole state of a replay at the start of a repetition.
struct ReplayMoment {
  Instance anchor;
  Seconds time;
  std::vector<std::int64_t> places;  // streams and communicators, repetitions relative to anchor
  std::vector<TaskProgress> running;
  std::int64_t earliest = 0;  // least and greatest repetition that any stream of the block is at
  std::int64_t latest = 0;
};

class Periodicity {
 public:
  // Notes a moment; the period if it is like the one before it in the same step and block and
  // everything between them was in the steady part (repetition >= 1).
  [[nodiscard]] std::optional<Seconds> note(ReplayMoment moment);
  // The same for the start of a step and that of the step before: all later steps repeat it.
  [[nodiscard]] std::optional<Seconds> note_step(ReplayMoment moment);
  void forget() { last_.reset(); }

 private:
  std::optional<ReplayMoment> last_, last_step_;
};

}  // namespace amsp
