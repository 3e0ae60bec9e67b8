// SPDX-License-Identifier: Apache-2.0
#include "calibrate/physics.hpp"

#include <algorithm>
#include <cmath>

namespace amsp {
namespace {

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
  const double r = shape.ranks_per_node;
  switch (algorithm) {
    case Algorithm::ring:
      return ring_hops(kind, shape);
    case Algorithm::tree:  // up and down: the chain inside, the tree across
      return {2.0 * (r - 1), 2.0 * levels};
    case Algorithm::nvls:
      return {0, 0};
    case Algorithm::nvls_tree:
      return {0, 2.0 * levels};
    case Algorithm::collnet:  // to the heads and back; the network's own time is latency_collnet
      return {r > 1 ? 2.0 : 0.0, 0};
    case Algorithm::pairwise:  // one round for every partner; a shift has one
      if (kind != CollectiveKind::send_recv) return {r - 1, shape.ranks - r};
      return {r > 1 ? 1.0 : 0.0, shape.nodes > 1 ? 1.0 : 0.0};
  }
  return {};
}

// Share of a binary tree's 2 x bytes that the fullest NIC carries: with two nodes each is the root
// of one tree and the leaf of the other (1 x bytes), with three 1.5 x.
double tree_nic_factor(int nodes) { return nodes <= 2 ? 1.0 : nodes == 3 ? 1.5 : 2.0; }

// In the middle of a tree's chain a GPU carries 2 x bytes each way (up and down), at its ends 1 x.
// A node's chains, one for each NIC, begin at different GPUs, so this is a bound: each GPU is at an
// end of some of them where there are half as many chains as GPUs or more.
double tree_port_factor(int per_node) { return per_node < 2 ? 0 : per_node == 2 ? 1 : 2; }

WireBytes pairwise_bytes(CollectiveKind kind, Bytes bytes, const GroupShape& shape, int nics) {
  const double n = shape.ranks;
  const double r = shape.ranks_per_node;
  const double outside = shape.nodes > 1 ? (n - r) / n : 0;
  switch (kind) {
    case CollectiveKind::all_to_all:  // a rank has one NIC, even where there are more
      return {bytes * ((r - 1) / n), bytes * (outside * r / std::min<double>(nics, r))};
    case CollectiveKind::send_recv:  // one rank of each node sends to the next node
      return {r > 1 ? bytes : Bytes(0), shape.nodes > 1 ? bytes : Bytes(0)};
    default:  // scatter, gather: the root's port and the root's nearest NIC
      return {bytes * ((r - 1) / n), bytes * outside};
  }
}

double pick(const PhysicsParameters& p, Parameter ll, Protocol protocol) {
  return p.values[static_cast<std::size_t>(ll) + static_cast<std::size_t>(protocol)];
}

// A broadcast and a reduce stream along a chain; the others go around the ring step by step.
bool is_chain(CollectiveKind kind) {
  return kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce;
}

bool is_nvls(const Candidate& c) {
  return c.algorithm == Algorithm::nvls || c.algorithm == Algorithm::nvls_tree;
}

double share_of_port(CollectiveKind kind, const GroupShape& shape, const Hardware& hardware) {
  if (kind == CollectiveKind::send_recv) return hardware.pair_share;
  if (is_pairwise(kind)) {  // one link for each partner on the node, at most the whole port
    const double links = std::max(1, shape.ranks_per_node - 1) * hardware.pair_share;
    return std::min(links, 1 / hardware.ring_share);
  }
  const auto ranks = static_cast<std::size_t>(shape.ranks_per_node);
  return ranks < hardware.port_share.size() ? hardware.port_share[ranks] : 1;
}

Seconds transfer_time(const Candidate& c, CollectiveKind kind, Bytes bytes, const GroupShape& shape,
                      const Hardware& hardware, const PhysicsParameters& p) {
  const int nics = nics_used(shape, hardware);
  const WireBytes wire = wire_bytes(kind, c.algorithm, bytes, shape, nics);
  const Bandwidth port(p[is_nvls(c) ? Parameter::rate_nvls : Parameter::rate_inside] *
                       share_of_port(kind, shape, hardware));
  const Parameter nic =
      c.algorithm == Algorithm::collnet ? Parameter::rate_collnet : Parameter::rate_nic;
  Seconds time = std::max(wire.port / port, wire.nic / Bandwidth(p[nic]));
  if (c.algorithm == Algorithm::tree || c.algorithm == Algorithm::nvls_tree) {
    const double loss = std::pow(shape.nodes / 2.0, p[Parameter::tree_loss]);
    time = time * loss / (is_nvls(c) ? 1.0 : p[Parameter::share_tree]);
  }
  if (c.protocol == Protocol::simple) return time;
  // Half of LL's words are flags, LL128's 8 of 128 bytes; between nodes LL has a ceiling, and so
  // has LL128 on some fabrics (rings on Slingshot: a sixth of Simple's rate).
  const bool ll = c.protocol == Protocol::ll;
  time = ll ? time * 2 : time / p[Parameter::share_ll128];
  if (shape.nodes == 1 || c.algorithm == Algorithm::pairwise) return time;
  const Bytes volume = bytes * bus_factor(kind, shape.ranks);
  if (!ll && c.algorithm != Algorithm::ring) return time;
  const Parameter ceiling = ll ? Parameter::ceiling_ll : Parameter::ceiling_ll128;
  return std::max(time, volume / Bandwidth(p[ceiling]));
}

}  // namespace

int nics_used(const GroupShape& shape, const Hardware& hardware) {
  return shape.nics_per_node > 0 ? shape.nics_per_node : hardware.nics_per_node;
}

WireBytes wire_bytes(CollectiveKind kind, Algorithm algorithm, Bytes bytes, const GroupShape& shape,
                     int nics) {
  const bool across = shape.nodes > 1;
  const double ring = bus_factor(kind, shape.ranks);
  const double n = shape.ranks;
  const double r = shape.ranks_per_node;
  switch (algorithm) {
    case Algorithm::ring:
      return {bytes * (r > 1 ? ring : 0), across ? bytes * (ring / nics) : Bytes(0)};
    case Algorithm::tree:
      return {bytes * tree_port_factor(shape.ranks_per_node),
              across ? bytes * (tree_nic_factor(shape.nodes) / nics) : Bytes(0)};
    case Algorithm::nvls:  // the switch adds and copies
      return {bytes * ((n + 1) / n), Bytes(0)};
    case Algorithm::nvls_tree:
      return {bytes * (r > 1 ? (r + 1) / r : 0), bytes * (tree_nic_factor(shape.nodes) / nics)};
    case Algorithm::collnet: {
      // A port: r-1 parts of each NIC whose head it is, one of each other; the NICs: once up and
      // once down.
      const double parts = across ? nics : 1, own = std::ceil(parts / r);
      return {bytes * (r > 1 ? (own * (r - 2) + parts) / parts : 0),
              across ? bytes * (1.0 / nics) : Bytes(0)};
    }
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
  const bool in_network = kind == CollectiveKind::all_reduce && shape.nodes > 1;
  if (in_network && hardware.collnet == CollnetUse::always) {
    return {{Algorithm::collnet, Protocol::simple}};
  }
  std::vector<Candidate> all;
  const auto every_protocol = [&](Algorithm algorithm) {
    all.push_back({algorithm, Protocol::ll});
    if (shape.nodes > 1 ? hardware.ll128_across : hardware.ll128_inside)
      all.push_back({algorithm, Protocol::ll128});
    all.push_back({algorithm, Protocol::simple});
  };
  every_protocol(Algorithm::ring);
  if (kind != CollectiveKind::all_reduce) return all;
  if (shape.nodes > 1) every_protocol(Algorithm::tree);
  if (hardware.nvls && shape.ranks_per_node > 2) {  // NCCL takes NVLS from 3 GPUs on
    all.push_back({shape.nodes == 1 ? Algorithm::nvls : Algorithm::nvls_tree, Protocol::simple});
  }
  if (in_network && hardware.collnet == CollnetUse::by_tuner) {
    all.push_back({Algorithm::collnet, Protocol::simple});
  }
  return all;
}

namespace {

// How much longer LL and LL128 take for their bytes: half of LL's words are flags.
double protocol_stretch(Protocol protocol, const PhysicsParameters& p) {
  if (protocol == Protocol::ll) return 2;
  return protocol == Protocol::ll128 ? 1 / p[Parameter::share_ll128] : 1;
}

// The way of one block around the ring: every hop takes its time and that of one piece.
double ring_path(const Candidate& c, CollectiveKind kind, Bytes bytes, const GroupShape& shape,
                 int nics, const Hops& hops, const PhysicsParameters& p) {
  const int channels = shape.nodes > 1 ? nics : 1;
  const double message = bytes.value() / (static_cast<double>(shape.ranks) * channels);
  const double most = p[Parameter::step_bytes];
  double piece = message * most / (message + most);
  // A chain streams: its pieces are no larger than one slice, whatever the number of ranks.
  if (is_chain(kind)) {
    const double share = bytes.value() / (4.0 * channels);
    piece = share * most / (share + most);
  }
  const double stretch = protocol_stretch(c.protocol, p);
  const double inside = pick(p, Parameter::inside_ll, c.protocol) +
                        stretch * channels * piece / p[Parameter::rate_inside];
  const double scale = std::pow(shape.nodes / 2.0, p[Parameter::across_growth]);
  const double across =
      pick(p, Parameter::across_ll, c.protocol) * scale + stretch * piece / p[Parameter::rate_nic];
  return hops.inside * inside + hops.across * across;
}

// CollNet: a head takes in and hands out the parts of its node's other GPUs one after the other,
// 0.4 us each (src/graph/tuning.cc).
double collnet_arity(const GroupShape& shape) { return 2 * 0.4e-6 * (shape.ranks_per_node - 1); }

// Launch and synchronisation; of NVLS and CollNet, whose rows in NCCL's table have no base, the
// switches' own time.
double base_of(const Candidate& c, const PhysicsParameters& p) {
  if (c.algorithm == Algorithm::collnet) return p[Parameter::latency_collnet];
  return is_nvls(c) ? p[Parameter::latency_nvls] : pick(p, Parameter::base_ll, c.protocol);
}

double other_path(const Candidate& c, Bytes bytes, const GroupShape& shape, int nics,
                  const Hops& hops, const PhysicsParameters& p) {
  if (c.algorithm == Algorithm::collnet) {
    return hops.inside * p[Parameter::inside_simple] + collnet_arity(shape);
  }
  double across = pick(p, Parameter::across_ll, c.protocol);
  if (c.algorithm != Algorithm::pairwise) {
    constexpr double largest_chunk = 524288, half = 65536;  // src/enqueue.cc
    const double message = std::min(bytes.value() / (4.0 * nics), largest_chunk);
    across *=
        p[Parameter::tree_step] * (1 + p[Parameter::tree_growth] * message / (message + half));
    across *= std::pow(shape.nodes / 2.0, p[Parameter::across_growth]);
  }
  return hops.inside * pick(p, Parameter::inside_ll, c.protocol) + hops.across * across;
}

}  // namespace

PhysicsTime candidate_time(const Candidate& c, CollectiveKind kind, Bytes bytes,
                           const GroupShape& shape, const Hardware& hardware,
                           const PhysicsParameters& p) {
  if (shape.ranks < 2) return {c, Seconds(0), Seconds(0)};
  const int nics = nics_used(shape, hardware);
  const Hops hops = hops_of(c.algorithm, kind, shape);
  const double base = base_of(c, p);
  const Seconds transfer = transfer_time(c, kind, bytes, shape, hardware, p);
  if (c.algorithm != Algorithm::ring) {
    return {c, Seconds(base + other_path(c, bytes, shape, nics, hops, p)), transfer};
  }
  const double path = ring_path(c, kind, bytes, shape, nics, hops, p);
  const double power = is_chain(kind) ? 1.0 : 1 + p[Parameter::overlap];
  const double longest = std::max(path, transfer.value());
  const double total = longest * std::pow(std::pow(path / longest, power) +
                                              std::pow(transfer.value() / longest, power),
                                          1 / power);
  return {c, Seconds(base + total - transfer.value()), transfer};
}

namespace {

// Logarithm of the fitted factor on NCCL's modelled time.
double choice_bias(const Candidate& c, const PhysicsParameters& p) {
  double factor = 1;
  if (c.protocol == Protocol::ll) factor *= p[Parameter::choose_ll];
  if (c.protocol == Protocol::ll128) factor *= p[Parameter::choose_ll128];
  if (c.algorithm == Algorithm::tree) factor *= p[Parameter::choose_tree];
  if (is_nvls(c)) factor *= p[Parameter::choose_nvls];
  return std::log(factor);
}

// Sharpness of the choice: candidates whose modelled times differ by 10 % are taken with odds of
// 7 to 1. NCCL's versions differ by about that much in their constants.
constexpr double sharpness = 20;

}  // namespace

ChoiceTable choice_table(CollectiveKind kind, Bytes bytes, const GroupShape& shape,
                         const Hardware& hardware) {
  ChoiceTable table{candidates(kind, shape, hardware), {}};
  const NcclGraph graph = expected_graph(shape, hardware.gpu_rate, hardware.nic_rate,
                                         nics_used(shape, hardware), hardware.system.generation);
  for (std::size_t i = 0; i < table.candidates.size(); ++i) {
    const Candidate& c = table.candidates[i];
    if (c.algorithm == Algorithm::pairwise) {
      // No table: LL up to 16 KiB for each channel and partner (src/enqueue.cc); continuous here.
      const double part = bytes.value() / shape.ranks / 16384.0;
      table.log_time[i] = c.protocol == Protocol::ll ? 0.5 * std::log(part) : 0.0;
    } else {
      const Seconds time = tuner_time(c, kind, bytes, shape, graph, hardware.system).total(bytes);
      table.log_time[i] = std::log(time.value());
    }
  }
  return table;
}

PhysicsTime physics_time(const ChoiceTable& table, CollectiveKind kind, Bytes bytes,
                         const GroupShape& shape, const Hardware& hardware,
                         const PhysicsParameters& p) {
  std::array<double, 8> choice{};
  double least = HUGE_VAL;
  for (std::size_t i = 0; i < table.candidates.size(); ++i) {
    choice[i] = table.log_time[i] + choice_bias(table.candidates[i], p);
    least = std::min(least, choice[i]);
  }
  double weight_sum = 0, log_time = 0, log_share = 0, best = -1;
  PhysicsTime result;
  for (std::size_t i = 0; i < table.candidates.size(); ++i) {
    const double weight = std::exp(-sharpness * (choice[i] - least));
    if (weight < 1e-3) continue;
    const Candidate& c = table.candidates[i];
    const PhysicsTime time = candidate_time(c, kind, bytes, shape, hardware, p);
    weight_sum += weight;
    log_time += weight * std::log(time.total().value());
    log_share += weight * (time.latency / time.total());
    if (weight > best) {
      best = weight;
      result.candidate = c;
    }
  }
  const double total = std::exp(log_time / weight_sum);
  result.latency = Seconds(total * log_share / weight_sum);
  result.transfer = Seconds(total) - result.latency;
  return result;
}

PhysicsTime physics_time(CollectiveKind kind, Bytes bytes, const GroupShape& shape,
                         const Hardware& hardware, const PhysicsParameters& p) {
  return physics_time(choice_table(kind, bytes, shape, hardware), kind, bytes, shape, hardware, p);
}

}  // namespace amsp
