// SPDX-License-Identifier: Apache-2.0
// What an engine is given: classes of ranks, groups and links (of one member each when nothing is
// folded), with costs and loads already summed over the members of a class.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "base/id.hpp"
#include "base/quantity.hpp"
#include "calibrate/collective_algorithm.hpp"
#include "sim/program.hpp"
#include "sim/replay.hpp"

namespace amsp {

using RankClassId = Id<struct RankClassTag>;
using GroupClassId = Id<struct GroupClassTag>;
using LinkClassId = Id<struct LinkClassTag>;
using TaskId = Id<struct TaskTag>;

// Bytes that the class's representative link carries per byte of the unit flow of every group of
// the group class together.
struct ClassLoad {
  LinkClassId link;
  double load;
};

struct CollectiveCost {
  Seconds latency;       // no link is held
  Bytes flow;            // unit flow W of the fluid phase; zero: no fluid phase
  double stretch = 1;    // 1/e: wire bytes per payload byte (docs/model/70-engines.md)
  int loads = -1;        // row of Problem::loads
  int pattern = -1;      // of the job's traffic
  double sm_share = 0;   // share of each member GPU's SMs during the fluid phase
  bool instant = false;  // one rank or no bytes: takes no time
  const Op* op = nullptr;
  const CollectiveAlgorithm* algorithm = nullptr;  // for the message-level mode
};

struct FoldedRank {
  int job = 0;
  Rank representative;
  GpuId gpu;
  int members = 1;
  double speed = 1;
  std::vector<GroupClassId> group_of;  // by communicator of the job; invalid: in no group
  std::vector<Lane> lanes;             // by stream of the job
};

struct FoldedGroup {
  int job = 0;
  CommId communicator;
  int representative = 0;          // group of the communicator
  int members = 1;                 // groups in the class
  std::vector<RankClassId> ranks;  // classes of its members, each once
  Lane lane;                       // collectives that the group takes part in
  std::vector<int> cost_of;        // by op of the job: index into Problem::costs, or -1
};

struct FoldedLink {
  LinkId representative;
  int members = 1;
  Bandwidth capacity;
};

struct ProblemJob {
  const Schedule* schedule = nullptr;
  Program program;
  std::vector<Seconds> kernel_time;  // by op: at speed 1, without jitter
};

struct Problem {
  std::vector<ProblemJob> jobs;
  std::vector<FoldedRank> ranks;
  std::vector<FoldedGroup> groups;
  std::vector<FoldedLink> links;
  std::vector<CollectiveCost> costs;
  std::vector<std::vector<ClassLoad>> loads;
  PredictionRange compute_range = PredictionRange::measured;  // the weakest of each
  PredictionRange collective_range = PredictionRange::measured;
  // Half widths of the estimates' 90 % intervals, as shares of the estimates, weighted by time over
  // a step of the main job; computation as a whole, collectives by kind.
  double compute_uncertainty = 0;
  std::map<CollectiveKind, double> collective_uncertainty;
};

}  // namespace amsp
