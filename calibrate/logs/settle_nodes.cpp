// SPDX-License-Identifier: Apache-2.0
// How many nodes, and which GPU: from the device list (complete or elided), else from NCCL's INFO
// lines, else from the file name.
#include <algorithm>
#include <cctype>
#include <map>

#include "base/counted.hpp"
#include "calibrate/logs/log_lines.hpp"
#include "calibrate/logs/raw_run.hpp"

namespace amsp {
namespace {

void settle_gpu(RawRun& raw) {
  std::map<std::string, std::size_t> names;
  for (const DeviceLine& device : raw.facts.devices)
    if (!device.name.empty()) ++names[device.name];
  if (names.empty() || !raw.run.gpu.empty()) return;
  const auto most = std::max_element(
      names.begin(), names.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  raw.run.gpu = most->first;
  if (names.size() > 1)
    raw.run.notes.push_back("devices of " + std::to_string(names.size()) +
                            " kinds; the most frequent is named");
}

// Ranks that share a host, from a list with gaps: a block of consecutive ranks whose host differs
// from both neighbours; else the last device number of the last rank.
std::optional<int> ranks_on_a_host(std::vector<DeviceLine> devices, int nranks) {
  std::sort(devices.begin(), devices.end(),
            [](const DeviceLine& a, const DeviceLine& b) { return a.rank < b.rank; });
  std::optional<int> begin;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const bool first = devices[i].rank == 0;
    const bool after_other = i > 0 && devices[i].rank == devices[i - 1].rank + 1 &&
                             devices[i].host != devices[i - 1].host;
    if (after_other && begin) return devices[i].rank - *begin;
    if (first || after_other) begin = devices[i].rank;
  }
  const DeviceLine& last = devices.back();
  if (last.rank == nranks - 1 && last.device && nranks % (*last.device + 1) == 0 &&
      (*last.device > 0 || devices.size() == 1))
    return *last.device + 1;
  return std::nullopt;
}

std::optional<int> nodes_by_devices(const RawRun& raw, std::string& note) {
  const RunFacts& facts = raw.facts;
  if (facts.devices.empty()) return std::nullopt;
  std::set<int> ranks;
  std::set<std::string> hosts;
  const int group = facts.devices.front().group;
  for (const DeviceLine& device : facts.devices) {
    if (device.group != group) continue;
    ranks.insert(device.rank);
    if (!device.host.empty()) hosts.insert(device.host);
  }
  const int n = raw.run.nranks.value_or(0);
  if (hosts.empty()) {
    const bool one_process = facts.gpus_a_process && ranks_of_a_process(facts) == n;
    return one_process ? std::optional<int>(1) : std::nullopt;
  }
  if (static_cast<int>(ranks.size()) >= n) return static_cast<int>(hosts.size());
  const auto shared = ranks_on_a_host(facts.devices, n);
  if (!shared || n % *shared != 0) return std::nullopt;
  note = counted(n / *shared, "node") + (n == *shared ? " follows" : " follow") + " from " +
         counted(*shared, "rank") + " on a host in an incomplete device list";
  return n / *shared;
}

}  // namespace

std::optional<NamedShape> shape_in_name(std::string_view stem) {
  for (std::size_t at = 0; at < stem.size(); ++at) {
    if (at > 0 && std::isalnum(static_cast<unsigned char>(stem[at - 1])) != 0) continue;
    const std::string_view rest = stem.substr(at);
    const std::size_t n = rest.find('n');
    const std::size_t g = rest.find('g');
    if (n == std::string_view::npos || g == std::string_view::npos || g < n || g > 14) continue;
    const auto nodes = parse_whole_number(rest.substr(0, n));
    const auto ranks = parse_whole_number(rest.substr(n + 1, g - n - 1));
    const bool ends =
        g + 1 == rest.size() || std::isalnum(static_cast<unsigned char>(rest[g + 1])) == 0;
    if (nodes && ranks && ends && *nodes > 0 && *ranks >= *nodes && *ranks < kMostRanks)
      return NamedShape{static_cast<int>(*nodes), static_cast<int>(*ranks)};
  }
  return std::nullopt;
}

void settle_nodes(RawRun& raw, std::string_view stem) {
  MeasuredRun& run = raw.run;
  settle_gpu(raw);
  if (!run.nnodes) {
    std::string note;
    run.nnodes = nodes_by_devices(raw, note);
    if (!note.empty()) run.notes.push_back(note);
  }
  if (!run.nnodes && raw.facts.info_nodes) run.nnodes = raw.facts.info_nodes;
  if (!run.nnodes && raw.facts.devices.empty() && raw.facts.info_hosts.size() > 1) {
    run.nnodes = static_cast<int>(raw.facts.info_hosts.size());
    run.notes.push_back(counted(*run.nnodes, "node") +
                        ": the hosts that appear in NCCL's INFO lines");
  }
  const auto shape = shape_in_name(stem);
  if (!run.nnodes && shape && run.nranks == shape->ranks) {
    run.nnodes = shape->nodes;
    run.notes.push_back(counted(shape->nodes, "node") + " taken from the file name");
  }
  if (run.nnodes && run.nranks && *run.nnodes > *run.nranks) {
    run.notes.push_back("more nodes than ranks; number of nodes dropped");
    run.nnodes.reset();
  }
  if (!run.gpus_per_node && run.nnodes && run.nranks && *run.nranks % *run.nnodes == 0)
    run.gpus_per_node = *run.nranks / *run.nnodes;
}

}  // namespace amsp
