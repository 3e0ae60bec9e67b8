// SPDX-License-Identifier: Apache-2.0
// The traffic of every group of a job, unfolded, computed once per kind of collective: the loads of
// an algorithm do not depend on the size, only its unit flow does (CollectiveAlgorithm::traffic).
#pragma once
#include <span>
#include <string>
#include <vector>

#include "calibrate/collective_algorithm.hpp"
#include "calibrate/collective_model.hpp"
#include "sim/group_table.hpp"

namespace amsp {

// Traffic of all groups of one communicator for one kind, root and algorithm.
struct TrafficPattern {
  CommId communicator;
  CollectiveKind kind;
  int root;
  const CollectiveAlgorithm* algorithm;
  Bytes size;                      // that it was computed for
  std::vector<std::size_t> first;  // loads of group g: [first[g], first[g + 1])
  std::vector<LinkLoad> loads;
  std::vector<Bytes> flow;  // by group

  [[nodiscard]] std::span<const LinkLoad> loads_of(int group) const;
};

// What a collective op means for groups of one shape.
struct OpTraffic {
  CollectiveEstimate estimate;
  int pattern = -1;  // index into TrafficTable::patterns; -1: takes no time
};

struct TrafficTable {
  std::vector<TrafficPattern> patterns;
  std::vector<std::vector<OpTraffic>> ops;  // [op][shape]; empty for ops that are no collectives
  PredictionRange range = PredictionRange::measured;  // the weakest
};

TrafficTable make_traffic_table(const JobGroups& job, const Network& network,
                                const CollectiveModel& model);

}  // namespace amsp
