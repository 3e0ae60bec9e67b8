// SPDX-License-Identifier: Apache-2.0
#include "topologies/import/device_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/pending/disjoint_sets.hpp>
#include <map>
#include <numeric>

namespace amsp {

// Sets of devices, numbered in the order of their first member.
class DeviceSets {
 public:
  explicit DeviceSets(std::size_t devices)
      : rank_(devices, 0), parent_(devices), sets_(rank_.data(), parent_.data()) {
    for (std::size_t i = 0; i < devices; ++i) sets_.make_set(i);
  }
  void join(std::size_t a, std::size_t b) { sets_.union_set(a, b); }
  bool together(std::size_t a, std::size_t b) { return sets_.find_set(a) == sets_.find_set(b); }
  std::vector<int> numbers() {
    std::map<std::size_t, int> number;
    std::vector<int> result;
    for (std::size_t i = 0; i < parent_.size(); ++i)
      result.push_back(
          number.try_emplace(sets_.find_set(i), static_cast<int>(number.size())).first->second);
    return result;
  }

 private:
  std::vector<std::size_t> rank_, parent_;
  boost::disjoint_sets<std::size_t*, std::size_t*> sets_;
};

DeviceGroups::DeviceGroups(const MachineFacts& facts)
    : facts_(facts), gpus_(facts.gpus.size()), devices_(gpus_ + facts.nics.size()) {
  find_sockets();
  find_switches();
}

PathKind DeviceGroups::path(std::size_t a, std::size_t b) const {
  if (a > b) std::swap(a, b);
  if (b < gpus_) return facts_.gpu_gpu[a][b].path;
  if (a < gpus_) return facts_.gpu_nic[a][b - gpus_];
  return facts_.nic_nic[a - gpus_][b - gpus_];
}

std::string DeviceGroups::label(std::size_t device) const {
  return device < gpus_ ? facts_.gpus[device].label : facts_.nics[device - gpus_].label;
}

std::string DeviceGroups::affinity(std::size_t device) const {
  if (device >= gpus_) return facts_.nics[device - gpus_].numa;
  const GpuFact& gpu = facts_.gpus[device];
  return gpu.numa.empty() ? gpu.cpus : gpu.numa;
}

bool DeviceGroups::is_far(std::size_t device) const {
  for (std::size_t other = 0; other < devices_; ++other)
    if (path(device, other) == PathKind::sys) return true;
  return false;
}

// A device of which neither row nor affinity is known: on its predecessor's socket.
void DeviceGroups::place_unknown(std::size_t device, const std::vector<bool>& connected,
                                 DeviceSets& sets) {
  if (device == 0 || connected[device] || !affinity(device).empty() || is_far(device)) return;
  sets.join(device, device - 1);
  notes_.push_back(fmt::format("the socket of {} is not known; taken to be that of {}",
                               label(device), label(device - 1)));
}

// Devices that are SYS from all that is known, but of which the file does not say how they are to
// each other (their rows are cut): one further socket holds them, not one each.
void DeviceGroups::join_far(const std::vector<bool>& connected, DeviceSets& sets) {
  std::vector<std::size_t> far;
  for (std::size_t i = 0; i < devices_; ++i)
    if (!connected[i] && affinity(i).empty() && is_far(i)) far.push_back(i);
  std::vector<std::string> joined;
  for (std::size_t i = 1; i < far.size(); ++i) {
    if (path(far[i - 1], far[i]) != PathKind::unknown) continue;
    sets.join(far[i - 1], far[i]);
    if (joined.empty() || joined.back() != label(far[i - 1])) joined.push_back(label(far[i - 1]));
    joined.push_back(label(far[i]));
  }
  if (!joined.empty())
    notes_.push_back(
        fmt::format("the sockets of {} are not known, only which they are not on; "
                    "taken to be one",
                    fmt::join(joined, ", ")));
}

void DeviceGroups::find_sockets() {
  DeviceSets sets(devices_);
  std::string crossed;
  std::vector<bool> connected(devices_, false);
  for (std::size_t a = 0; a < devices_; ++a)
    for (std::size_t b = a + 1; b < devices_; ++b) {
      const PathKind between = path(a, b);
      const bool near = between == PathKind::pix || between == PathKind::pxb ||
                        between == PathKind::phb || between == PathKind::node;
      const bool equal = !affinity(a).empty() && affinity(a) == affinity(b);
      if (near || (equal && between != PathKind::sys)) {
        sets.join(a, b);
        connected[a] = connected[b] = true;
      }
      if (equal && between == PathKind::sys && crossed.empty())
        crossed =
            fmt::format("devices of NUMA node {} are SYS apart; SYS is believed", affinity(a));
    }
  for (std::size_t i = 0; i < devices_; ++i) place_unknown(i, connected, sets);
  join_far(connected, sets);
  socket_ = sets.numbers();
  sockets_ = socket_.empty() ? 1 : *std::max_element(socket_.begin(), socket_.end()) + 1;
  if (!crossed.empty()) notes_.push_back(crossed);
  for (std::size_t a = 0; a < devices_; ++a)
    for (std::size_t b = a + 1; b < devices_; ++b)
      if (path(a, b) == PathKind::sys && socket_[a] == socket_[b]) {
        notes_.push_back("some pairs are SYS apart although other devices join them on one socket");
        return;
      }
}

void DeviceGroups::find_switches() {
  DeviceSets sets(devices_);
  for (std::size_t a = 0; a < devices_; ++a)
    for (std::size_t b = a + 1; b < devices_; ++b)
      if (path(a, b) == PathKind::pix || path(a, b) == PathKind::pxb) sets.join(a, b);
  const std::vector<int> set = sets.numbers();
  std::map<int, int> members;
  for (const int number : set) ++members[number];
  std::map<int, int> switch_of_set;
  for (std::size_t i = 0; i < devices_; ++i) {
    if (members[set[i]] < 2) {
      switch_.push_back(-1);
      continue;
    }
    const auto [entry, is_new] =
        switch_of_set.try_emplace(set[i], static_cast<int>(switch_socket_.size()));
    if (is_new) switch_socket_.push_back(socket_[i]);
    switch_.push_back(entry->second);
  }
}

std::vector<int> DeviceGroups::gpus_nearest_to(std::size_t nic) const {
  std::vector<int> nearest;
  for (std::size_t gpu = 0; gpu < gpus_; ++gpu) {
    const auto& row = facts_.gpu_nic[gpu];
    const PathKind best = *std::min_element(row.begin(), row.end());
    const PathKind worst = *std::max_element(row.begin(), row.end());
    const bool tells =
        best != PathKind::unknown && best != PathKind::sys && (best != worst || row.size() == 1);
    if (tells && row[nic] == best) nearest.push_back(static_cast<int>(gpu));
  }
  return nearest;
}

}  // namespace amsp
