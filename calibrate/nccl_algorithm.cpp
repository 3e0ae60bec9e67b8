// SPDX-License-Identifier: Apache-2.0
#include "calibrate/nccl_algorithm.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace amsp {

Protocols every_protocol(const GroupShape& shape, const Hardware& hardware) {
  return {true, shape.nodes > 1 ? hardware.ll128_across : hardware.ll128_inside, true};
}

std::string_view NcclAlgorithm::name_in_logs(std::string_view written) const {
  std::size_t at = 0;
  for (const char c : name()) {
    if (c == '_') continue;
    if (at == written.size() || written[at++] != c) return {};
  }
  return at == written.size() ? name() : std::string_view();
}

Seconds NcclAlgorithm::protocol_limit(const NcclCall& call, const PhysicsParameters& p) const {
  if (call.protocol != Protocol::ll) return Seconds(0);
  return call.bytes * bus_factor(call.kind, call.shape.ranks) / Bandwidth(p[Parameter::ceiling_ll]);
}

Seconds NcclAlgorithm::stretched(Seconds transfer, const GroupShape&,
                                 const PhysicsParameters&) const {
  return transfer;
}

// What NCCL's search finds, doubled (src/graph/connect.cc), doubled again on Hopper and later below
// 16 channels across nodes.
int NcclAlgorithm::channels(const GroupShape& shape, const Hardware& hardware) const {
  const GpuGeneration generation = hardware.system.generation;
  const bool modern = generation == GpuGeneration::hopper || generation == GpuGeneration::blackwell;
  const NcclGraph graph = expected_graph(shape, hardware.gpu_rate, hardware.nic_rate,
                                         nics_used(shape, hardware), generation);
  int channels = 2 * graph.channels;
  if (modern && shape.nodes > 1 && channels < 16) channels *= 2;
  return std::min(channels, 64);
}

TunerTime NcclAlgorithm::tuner_time(const NcclCall&, const NcclGraph&, const NcclSystem&) const {
  return {};
}

NcclView NcclAlgorithm::view(const NcclCall& call, const NcclGraph& graph,
                             const NcclSystem& system) const {
  const TunerTime time = tuner_time(call, graph, system);
  const Seconds total = time.total(call.bytes);
  return {std::log(total.value()), time.latency / total};
}

const std::vector<Algorithm>& nccl_algorithms() {
  static const std::vector<Algorithm> all = [] {
    std::vector<Algorithm> found;
    for (const CollectiveAlgorithm* algorithm : collective_algorithms()) {
      if (const auto* nccl = dynamic_cast<const NcclAlgorithm*>(algorithm)) {
        found.emplace_back(*nccl);
      }
    }
    std::sort(found.begin(), found.end());
    return found;
  }();
  return all;
}

Algorithm find_nccl_algorithm(std::string_view name) {
  std::vector<std::string> names;
  for (const Algorithm algorithm : nccl_algorithms()) {
    if (algorithm->name() == name) return algorithm;
    names.emplace_back(algorithm->name());
  }
  throw InputError(unknown_name("NCCL algorithm", name, names));
}

}  // namespace amsp
