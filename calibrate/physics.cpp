// SPDX-License-Identifier: Apache-2.0
#include "calibrate/physics.hpp"

#include <algorithm>
#include <cmath>

namespace amsp {
namespace {

bool is_pairwise(CollectiveKind kind) {
  return kind == CollectiveKind::all_to_all || kind == CollectiveKind::send_recv ||
         kind == CollectiveKind::scatter || kind == CollectiveKind::gather;
}

struct Hops {
  double inside = 0;
  double across = 0;
};

// NCCL src/graph/tuning.cc: 2(n-1) steps of an all_reduce, 2(N-1) of them between nodes; half of
// that for all_gather and reduce_scatter; a broadcast's or reduce's chain has n-1 hops.
Hops ring_hops(CollectiveKind kind, const GroupShape& shape) {
  const double turns = kind == CollectiveKind::all_reduce ? 2 : 1;
  const double across = shape.nodes > 1 ? turns * (shape.nodes - 1) : 0;
  return {turns * (shape.ranks - 1) - across, across};
}

Hops hops_of(Algorithm algorithm, CollectiveKind kind, const GroupShape& shape) {
  const double levels = std::log2(static_cast<double>(shape.nodes));
  switch (algorithm) {
    case Algorithm::ring:
      return ring_hops(kind, shape);
    case Algorithm::tree:  // up and down: the chain inside, the tree across
      return {2.0 * (shape.ranks_per_node - 1), 2.0 * levels};
    case Algorithm::nvls:
      return {0, 0};
    case Algorithm::nvls_tree:
      return {0, 2.0 * levels};
    case Algorithm::pat:  // log2 N hops at a third of the latency and a term linear in n
      return {0, levels};
    case Algorithm::pairwise:  // all sends are posted at once, so one hop of each sort …
      return {shape.ranks_per_node > 1 ? 1.0 : 0.0, shape.nodes > 1 ? 1.0 : 0.0};
  }
  return {};
}

// Share of a binary tree's 2 x bytes that the fullest NIC carries: with two nodes each is the root
// of one tree and the leaf of the other (1 x bytes), with three 1.5 x.
double tree_nic_factor(int nodes) { return nodes <= 2 ? 1.0 : nodes == 3 ? 1.5 : 2.0; }

WireBytes pairwise_bytes(CollectiveKind kind, Bytes bytes, const GroupShape& shape, int nics) {
  const double n = shape.ranks;
  const double r = shape.ranks_per_node;
  const double outside = shape.nodes > 1 ? (n - r) / n : 0;
  switch (kind) {
    case CollectiveKind::all_to_all:
      return {bytes * ((r - 1) / n), bytes * (outside * r / nics)};
    case CollectiveKind::send_recv:  // one rank of each node sends to the next node
      return {r > 1 ? bytes : Bytes(0), shape.nodes > 1 ? bytes : Bytes(0)};
    default:  // scatter, gather: the root's port and the root's nearest NIC
      return {bytes * ((r - 1) / n), bytes * outside};
  }
}

}  // namespace

std::string_view name_of(Protocol protocol) {
  switch (protocol) {
    case Protocol::ll:
      return "LL";
    case Protocol::ll128:
      return "LL128";
    case Protocol::simple:
      return "Simple";
  }
  return "";
}

std::string_view name_of(Algorithm algorithm) {
  constexpr std::array<std::string_view, 6> names{"ring",      "tree", "nvls",
                                                  "nvls_tree", "pat",  "pairwise"};
  return names[static_cast<std::size_t>(algorithm)];
}

WireBytes wire_bytes(CollectiveKind kind, Algorithm algorithm, Bytes bytes, const GroupShape& shape,
                     int nics) {
  const bool across = shape.nodes > 1;
  const double ring = bus_factor(kind, shape.ranks);
  const double n = shape.ranks;
  const double r = shape.ranks_per_node;
  switch (algorithm) {
    case Algorithm::ring:
    case Algorithm::pat:
      return {bytes * (r > 1 ? ring : 0), across ? bytes * (ring / nics) : Bytes(0)};
    case Algorithm::tree:
      return {r > 1 ? bytes * 2 : Bytes(0),
              across ? bytes * (tree_nic_factor(shape.nodes) / nics) : Bytes(0)};
    case Algorithm::nvls:  // the switch adds and copies: (r+1)/r x bytes on a port, or its part
      return {bytes * (kind == CollectiveKind::all_reduce ? (n + 1) / n : 1.0), Bytes(0)};
    case Algorithm::nvls_tree:
      return {bytes * ((r + 1) / r), bytes * (tree_nic_factor(shape.nodes) / nics)};
    case Algorithm::pairwise:
      return pairwise_bytes(kind, bytes, shape, nics);
  }
  return {};
}

std::vector<Candidate> candidates(CollectiveKind kind, const GroupShape& shape,
                                  const Hardware& hardware) {
  if (is_pairwise(kind)) {
    return {{Algorithm::pairwise, Protocol::ll}, {Algorithm::pairwise, Protocol::simple}};
  }
  std::vector<Candidate> all;
  const auto every_protocol = [&](Algorithm algorithm) {
    all.push_back({algorithm, Protocol::ll});
    if (hardware.ll128) all.push_back({algorithm, Protocol::ll128});
    all.push_back({algorithm, Protocol::simple});
  };
  every_protocol(Algorithm::ring);
  const bool one_node = shape.nodes == 1;
  if (kind == CollectiveKind::all_reduce && !one_node) every_protocol(Algorithm::tree);
  const bool whole_node = shape.ranks_per_node > 2;  // NCCL takes NVLS from 3 GPUs on
  if (hardware.nvls && whole_node && one_node && kind == CollectiveKind::all_reduce) {
    all.push_back({Algorithm::nvls, Protocol::simple});
  }
  if (hardware.nvls && whole_node && !one_node && kind == CollectiveKind::all_reduce) {
    all.push_back({Algorithm::nvls_tree, Protocol::simple});
  }
  return all;
}

namespace {

double pick(const PhysicsParameters& p, Parameter ll, Protocol protocol) {
  return p.values[static_cast<std::size_t>(ll) + static_cast<std::size_t>(protocol)];
}

// Rates of a candidate's fluid phase.
Seconds transfer_time(const Candidate& c, CollectiveKind kind, Bytes bytes, const GroupShape& shape,
                      int nics, const PhysicsParameters& p) {
  const WireBytes wire = wire_bytes(kind, c.algorithm, bytes, shape, nics);
  const bool nvls = c.algorithm == Algorithm::nvls || c.algorithm == Algorithm::nvls_tree;
  const Bandwidth port(p[nvls ? Parameter::rate_nvls : Parameter::rate_inside]);
  const Bandwidth nic(p[Parameter::rate_nic]);
  Seconds time = std::max(wire.port / port, wire.nic / nic);
  if (c.algorithm == Algorithm::tree) time = time / p[Parameter::share_tree];
  if (c.protocol == Protocol::ll128) time = time / p[Parameter::share_ll128];
  if (c.protocol == Protocol::ll) {  // half of LL's words are flags, and its total has a ceiling
    const Bytes volume = bytes * bus_factor(kind, shape.ranks);
    time = std::max(time * 2, volume / Bandwidth(p[Parameter::ceiling_ll]));
  }
  return time;
}

}  // namespace

PhysicsTime candidate_time(const Candidate& c, CollectiveKind kind, Bytes bytes,
                           const GroupShape& shape, const Hardware& hardware,
                           const PhysicsParameters& p) {
  if (shape.ranks < 2) return {c, Seconds(0), Seconds(0)};
  const int nics = shape.nics_per_node > 0 ? shape.nics_per_node : hardware.nics_per_node;
  const Hops hops = hops_of(c.algorithm, kind, shape);
  double inside = pick(p, Parameter::inside_ll, c.protocol);
  double across = pick(p, Parameter::across_ll, c.protocol);
  double latency = pick(p, Parameter::base_ll, c.protocol);
  if (c.algorithm == Algorithm::tree || c.algorithm == Algorithm::nvls_tree) {
    across *= p[Parameter::tree_across];
  }
  if (c.algorithm == Algorithm::nvls || c.algorithm == Algorithm::nvls_tree) {
    latency = p[Parameter::latency_nvls];
  }
  latency += hops.inside * inside + hops.across * across;
  return {c, Seconds(latency), transfer_time(c, kind, bytes, shape, nics, p)};
}

PhysicsTime physics_time(CollectiveKind kind, Bytes bytes, const GroupShape& shape,
                         const Hardware& hardware, const PhysicsParameters& parameters) {
  const auto all = candidates(kind, shape, hardware);
  PhysicsTime best = candidate_time(all.front(), kind, bytes, shape, hardware, parameters);
  for (const Candidate& candidate : all) {
    const PhysicsTime time = candidate_time(candidate, kind, bytes, shape, hardware, parameters);
    if (time.total() < best.total()) best = time;
  }
  return best;
}

}  // namespace amsp
