// SPDX-License-Identifier: Apache-2.0
#include "topologies/import/device_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/pending/disjoint_sets.hpp>
#include <charconv>
#include <map>
#include <numeric>
#include <string_view>

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

bool DeviceGroups::is_apart(std::size_t device) const {
  if (device < gpus_) return false;
  for (std::size_t gpu = 0; gpu < gpus_; ++gpu)
    if (path(gpu, device) != PathKind::sys) return false;
  return gpus_ > 0;
}

namespace {

// "0,3-9" holds "7".
bool holds_numa(std::string_view list, std::string_view node) {
  const auto number = [](std::string_view text) {
    int value = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? value : -1;
  };
  const int wanted = number(node);
  for (std::size_t at = 0; wanted >= 0 && at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const std::string_view part = list.substr(at, end - at);
    const std::size_t dash = std::min(part.find('-'), part.size());
    const int low = number(part.substr(0, dash));
    const int high = dash == part.size() ? low : number(part.substr(dash + 1));
    if (low >= 0 && low <= wanted && wanted <= high) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace

// On the socket of the GPU whose NUMA affinity names the NUMA node of a NIC of the group.
bool DeviceGroups::place_by_numa(const std::vector<std::size_t>& group, DeviceSets& sets) const {
  for (const std::size_t nic : group)
    for (std::size_t gpu = 0; gpu < gpus_; ++gpu) {
      if (!holds_numa(facts_.gpus[gpu].numa, affinity(nic))) continue;
      sets.join(gpu, nic);
      return true;
    }
  return false;
}

// NICs that are SYS from every GPU. SYS names another NUMA node, not another CPU: hosts whose CPUs
// have several nodes, and Grace (whose GPUs are nodes themselves), show it within one socket. So
// no sockets are invented for them, but where all GPUs are on one socket of another host: there
// SYS is the other CPU.
void DeviceGroups::spread_apart(std::vector<bool>& connected, DeviceSets& sets) {
  std::map<int, std::vector<std::size_t>> members;
  const std::vector<int> set = sets.numbers();
  for (std::size_t i = 0; i < devices_; ++i) members[set[i]].push_back(i);
  std::vector<std::size_t> sockets;  // one GPU of each
  std::vector<std::vector<std::size_t>> groups;
  for (const auto& [number, group] : members) {
    if (group.front() < gpus_) sockets.push_back(group.front());
    const bool apart = std::all_of(group.begin(), group.end(),
                                   [this](std::size_t device) { return is_apart(device); });
    if (!apart) continue;
    const bool placed = place_by_numa(group, sets);
    for (const std::size_t nic : group) {
      spread_[nic] = spread_[nic] || placed;
      connected[nic] = connected[nic] || placed;
    }
    if (!placed && affinity(group.front()).empty()) groups.push_back(group);
  }
  const bool grace = gpus_ > 0 && !facts_.gpus.front().gpu_numa.empty();
  const bool other_cpu = sockets.size() == 1 && !grace;
  if (groups.empty() || (other_cpu && groups.size() == 1)) return;
  std::size_t nics = 0;
  for (const auto& group : groups) nics += group.size();
  std::vector<std::string> names;
  for (const auto& group : groups) {
    // As many NICs on each socket: a group goes where its middle NIC belongs.
    const std::size_t middle = 2 * names.size() + group.size() - 1;
    const std::size_t on =
        other_cpu ? groups.front().front() : sockets[middle * sockets.size() / (2 * nics)];
    for (const std::size_t nic : group) {
      sets.join(on, nic);
      spread_[nic] = connected[nic] = true;
      names.push_back(label(nic));
    }
  }
  notes_.push_back(fmt::format(
      "{}: SYS from every GPU, and no file shows a NUMA node; {}", fmt::join(names, ", "),
      other_cpu ? "taken to be on one other socket"
                : fmt::format("spread in their order over the {} socket{} of the GPUs",
                              sockets.size(), sockets.size() == 1 ? "" : "s")));
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
  spread_.assign(devices_, false);
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
      if (equal && between == PathKind::sys && crossed.empty() && !is_apart(b))
        crossed =
            fmt::format("devices of NUMA node {} are SYS apart; SYS is believed", affinity(a));
    }
  for (std::size_t i = 0; i < devices_; ++i) place_unknown(i, connected, sets);
  spread_apart(connected, sets);
  join_far(connected, sets);
  socket_ = sets.numbers();
  sockets_ = socket_.empty() ? 1 : *std::max_element(socket_.begin(), socket_.end()) + 1;
  if (!crossed.empty()) notes_.push_back(crossed);
  for (std::size_t a = 0; a < devices_; ++a)
    for (std::size_t b = a + 1; b < devices_; ++b)
      if (path(a, b) == PathKind::sys && socket_[a] == socket_[b] && !spread_[a] && !spread_[b]) {
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
