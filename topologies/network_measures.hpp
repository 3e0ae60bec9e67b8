// SPDX-License-Identifier: Apache-2.0
// What a network as a whole can do: bisection bandwidth, distances, links by kind.
#pragma once
#include <string>
#include <vector>

#include "base/quantity.hpp"
#include "topologies/network.hpp"

namespace amsp {

// Maximum flow (push-relabel) from the first half of the nodes to the second half over NICs and
// fabric, one direction; with one node, from the first half of its GPUs to the second half.
// Zero when there is only one GPU.
Bandwidth bisection_bandwidth(const Network& network);

// The way between two GPUs.
struct Distance {
  std::string what;  // "same node", "same leaf", "across leaves", "across pods"
  GpuId from, to;
  int hops = 0;        // links
  int switches = 0;    // leaf, spine and core switches on the way
  Seconds latency;     // sum over the links
  Bandwidth capacity;  // of the narrowest link
};

// One example of each kind that the cluster has, nearest first: GPU 0 to the first GPU of the kind.
std::vector<Distance> distances(const Network& network);

// Links of one kind and capacity that stand between the same kinds of devices.
struct LinkGroup {
  LinkKind kind;
  VertexKind from, to;
  Bandwidth capacity;
  std::size_t links = 0;
  LinkId example;
};
std::vector<LinkGroup> link_groups(const Network& network);  // in order of first appearance

}  // namespace amsp
