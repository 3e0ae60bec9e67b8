// SPDX-License-Identifier: Apache-2.0
// Max-min fair rates of coupled flows: all running flows rise together until a link is full; those
// on it stay there, the others rise on (progressive filling). A flow at rate x takes weight * x of
// each of its links. Only the flows connected by shared links to what changed are solved again.
#pragma once
#include <vector>

#include "base/quantity.hpp"
#include "sim/problem.hpp"

namespace amsp {

class FairShare {
 public:
  FairShare(const std::vector<FoldedLink>& links, std::size_t flows);

  // Flow = group class. `loads` must outlive the flow; a link's weight is load * stretch.
  void add(GroupClassId flow, const std::vector<ClassLoad>& loads, double stretch);
  void remove(GroupClassId flow);
  // Appends the flows whose rate may have changed since the last call.
  void solve(std::vector<GroupClassId>& changed);
  [[nodiscard]] Bandwidth rate(GroupClassId flow) const;

 private:
  struct Use {
    int flow;
    double weight;
  };
  struct Flow {
    const std::vector<ClassLoad>* loads = nullptr;
    double stretch = 1;
    double rate = 0;
    bool frozen = false;
    std::uint32_t mark = 0;
  };
  struct LinkState {
    double capacity = 0;
    std::vector<Use> uses;
    double left = 0;    // capacity not yet given away
    double weight = 0;  // of the flows that still rise
    int rising = 0;
    std::uint32_t mark = 0;
  };

  void collect(std::size_t link);
  void fill();
  void freeze(int flow, double level);

  std::vector<LinkState> links_;
  std::vector<Flow> flows_;
  std::vector<std::size_t> touched_;    // links whose flows changed
  std::vector<std::size_t> component_;  // links being solved
  std::vector<int> members_;            // flows being solved
  std::vector<std::size_t> full_;
  std::uint32_t mark_ = 0;
};

}  // namespace amsp
