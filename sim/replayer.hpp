// SPDX-License-Identifier: Apache-2.0
// The replay core: streams (first in, first out), communicators (in order, all members) and
// dependencies over the classes of a problem; the engine runs what is ready.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/engine.hpp"
#include "sim/periodicity.hpp"
#include "sim/problem.hpp"
#include "sim/replay.hpp"

namespace amsp {

class Replayer {
 public:
  Replayer(const Problem& problem, const Perturbations& perturbations, Engine& engine,
           const ReplayOptions& options);

  // Throws InputError on a deadlock.
  void run();
  [[nodiscard]] std::vector<OpRecord> take_records() { return std::move(records_); }
  [[nodiscard]] const std::vector<SkippedRepetitions>& skipped() const { return skipped_; }
  [[nodiscard]] const std::vector<OtherTransfer>& others() const { return others_; }
  // A step that all later ones repeat (options.fold_steps); the records end soon behind it.
  struct SteadyStep {
    Seconds start, period;
  };
  [[nodiscard]] const std::optional<SteadyStep>& steady_step() const { return steady_step_; }
  // When the computation of each step ended, where all ranks end theirs together (fold_steps).
  [[nodiscard]] std::optional<std::vector<Seconds>> common_ends() const;

 private:
  enum class Wait { dependencies, members, running, ended, job };  // job: one step ahead of it
  struct LaneState {
    int rank = 0;  // class
    int stream = 0;
    Instance at;
    Wait wait = Wait::dependencies;
    Seconds ready, start;
  };
  struct Arrival {
    Instance instance;
    int count;
  };
  struct GroupState {
    Instance next;
    bool ended = false;  // no more instances on this communicator
    bool running = false;
    Seconds start;
    std::vector<Arrival> arrivals;
  };

  struct OtherJob {
    int step = 0;          // of its slowest stream
    std::size_t left = 0;  // streams that still are there
  };

  [[nodiscard]] Seconds now() const { return engine_.now() + shift_; }
  [[nodiscard]] LaneState& lane(int rank, int stream);
  [[nodiscard]] const ProblemJob& job_of(const LaneState& lane) const;
  [[nodiscard]] const Op& op_of(const LaneState& lane) const;
  [[nodiscard]] bool done(const LaneState& lane, const Instance& instance) const;
  [[nodiscard]] const LaneState* blocker(const LaneState& lane) const;
  void visit(int rank);
  void start(LaneState& lane);
  void arrive(LaneState& lane, const Op& op);
  void try_group(int group);
  void finish_lane(LaneState& lane);
  void next_step(LaneState& lane, int job, int before);
  void queue(int rank);
  void note_other(int group);
  void finish_group(int group);
  void on_finished(std::span<const TaskId> tasks);
  void drain();
  void skip_repetitions(const LaneState& anchor);
  void note_step(const LaneState& anchor);
  void note_end(const LaneState& lane);
  void shift(const Instance& anchor, std::int64_t repetitions, Seconds period);
  [[nodiscard]] ReplayMoment moment(const Instance& anchor) const;
  [[nodiscard]] std::string deadlock() const;

  const Problem& problem_;
  const Perturbations& perturbations_;
  Engine& engine_;
  ReplayOptions options_;
  std::vector<std::size_t> first_lane_;  // by rank class
  std::vector<LaneState> lanes_;
  std::vector<GroupState> groups_;
  std::vector<int> to_visit_;
  std::vector<char> queued_;
  std::vector<OtherJob> other_jobs_;  // by job; the main job's is not used
  std::vector<OtherTransfer> others_;
  std::size_t main_lanes_left_ = 0;
  std::vector<OpRecord> records_;
  std::vector<SkippedRepetitions> skipped_;
  Periodicity periodicity_;
  Seconds shift_;  // time of repetitions that were not replayed
  int anchor_lane_ = -1;
  bool anchor_started_ = false;
  std::optional<SteadyStep> steady_step_;
  std::vector<Seconds> first_ends_, last_ends_;  // by step: of the first rank, of the last one
};

}  // namespace amsp
