// SPDX-License-Identifier: Apache-2.0
#include "topologies/import/machine_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/counted.hpp"
#include "base/error.hpp"
#include "topologies/import/gpu_names.hpp"
#include "topologies/import/merged_nics.hpp"

namespace amsp {
namespace {

void merge_gpu(GpuFact& gpu, const GpuFact& other) {
  if (!gpu.type) gpu.type = other.type;
  if (gpu.architecture.empty()) gpu.architecture = other.architecture;
  if (gpu.multiprocessors == 0) gpu.multiprocessors = other.multiprocessors;
  if (gpu.cpus.empty()) gpu.cpus = other.cpus;
  if (gpu.numa.empty()) gpu.numa = other.numa;
  if (gpu.bus.empty()) gpu.bus = other.bus;
  if (gpu.gpu_numa.empty()) gpu.gpu_numa = other.gpu_numa;
  if (!gpu.pcie_rate) gpu.pcie_rate = other.pcie_rate;
  gpu.switch_links = std::max(gpu.switch_links, other.switch_links);
}

// NVLinks of a GPU to an NVSwitch, as a tree counts them or as its row of a matrix shows them.
int shown_links(const MachineFacts& facts, std::size_t gpu) {
  int most = facts.gpus[gpu].switch_links;
  if (most > 0) return most;
  for (const Relation& relation : facts.gpu_gpu[gpu]) most = std::max(most, relation.nvlinks);
  return most;
}

// Behind a switch a tree shows no pairs and a matrix no links: their counts per GPU are compared.
void note_switch_links(MachineFacts& facts, const MachineFacts& other) {
  std::map<std::pair<int, int>, std::string> differ;
  for (std::size_t i = 0; i < std::min(facts.gpus.size(), other.gpus.size()); ++i) {
    if (facts.gpus[i].switch_links == 0 && other.gpus[i].switch_links == 0) continue;
    const int mine = shown_links(facts, i), theirs = shown_links(other, i);
    if (mine > 0 && theirs > 0 && mine != theirs)
      differ[{mine, theirs}] += fmt::format(" GPU{}", i);
  }
  for (const auto& [links, gpus] : differ)
    facts.notes.push_back(
        fmt::format("{} and {} disagree on the NVLinks to the NVSwitch of{}: {} and {} each; "
                    "the greater number is taken",
                    facts.source, other.source, gpus, links.first, links.second));
}

void merge_gpu_pairs(MachineFacts& facts, const MachineFacts& other) {
  for (std::size_t a = 0; a < facts.gpus.size(); ++a)
    for (std::size_t b = 0; b < facts.gpus.size(); ++b) {
      Relation& mine = facts.gpu_gpu[a][b];
      const Relation& theirs = other.gpu_gpu[a][b];
      if (mine.path == PathKind::unknown) mine.path = theirs.path;
      const bool differ =
          a < b && mine.nvlinks >= 0 && theirs.nvlinks >= 0 && mine.nvlinks != theirs.nvlinks;
      // A tree without NVLinks is not a machine without them: whoever saw links is right.
      if (differ && std::min(mine.nvlinks, theirs.nvlinks) > 0)
        facts.notes.push_back(
            fmt::format("{} and {} disagree on GPU{}-GPU{}: {} and {} NVLinks; "
                        "the greater number is taken",
                        facts.source, other.source, a, b, mine.nvlinks, theirs.nvlinks));
      mine.nvlinks = std::max(mine.nvlinks, theirs.nvlinks);
    }
}

// Whether two lists of names, both known, have nothing in common.
bool disjoint(const std::set<std::string>& mine, const std::set<std::string>& theirs) {
  return !mine.empty() && !theirs.empty() &&
         std::none_of(mine.begin(), mine.end(),
                      [&](const std::string& name) { return theirs.contains(name); });
}

// Names that the system gave ("mlx5_0"), not those that a file or this reader numbers ("NIC0").
std::set<std::string> nic_names(const MachineFacts& facts) {
  std::set<std::string> names;
  for (const NicFact& nic : facts.nics)
    if (!is_numbered_nic(nic.device)) names.insert(nic.device.substr(0, nic.device.find('#')));
  return names;
}

std::set<std::string> bus_addresses(const MachineFacts& facts) {
  std::set<std::string> addresses;
  for (const GpuFact& gpu : facts.gpus)
    if (!gpu.bus.empty()) addresses.insert(gpu.bus);
  return addresses;
}

std::string list_of(const std::set<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

void require_one_machine(const MachineFacts& first, const MachineFacts& second) {
  const auto refuse = [&](const std::string& mine, const std::string& theirs) {
    throw InputError({second.source, ""},
                     fmt::format("shows {}, but {} shows {}: give files of one machine, and import "
                                 "each machine on its own",
                                 theirs, first.source, mine));
  };
  const auto gpus = [](const MachineFacts& facts) { return counted(facts.gpus.size(), "GPU"); };
  if (!first.gpus.empty() && !second.gpus.empty() && first.gpus.size() != second.gpus.size())
    refuse(gpus(first), gpus(second));
  for (std::size_t i = 0; i < std::min(first.gpus.size(), second.gpus.size()); ++i) {
    const auto& mine = first.gpus[i].type;
    const auto& theirs = second.gpus[i].type;
    if (mine && theirs && *mine != *theirs)
      refuse(fmt::format("GPU{} as {}", i, *mine), fmt::format("GPU{} as {}", i, *theirs));
  }
  for (std::size_t i = 0; i < std::min(first.gpus.size(), second.gpus.size()); ++i) {
    const std::string& mine = first.gpus[i].architecture;
    const std::string& theirs = second.gpus[i].architecture;
    if (!mine.empty() && !theirs.empty() && mine != theirs)
      refuse(fmt::format("GPU{} as {}", i, mine), fmt::format("GPU{} as {}", i, theirs));
  }
  if (const auto models = models_differ(first, second)) refuse(models->first, models->second);
  const auto mine = bus_addresses(first), theirs = bus_addresses(second);
  if (!mine.empty() && !theirs.empty() && mine != theirs)
    refuse("GPUs at " + list_of(mine), "GPUs at " + list_of(theirs));
  const auto my_nics = nic_names(first), their_nics = nic_names(second);
  if (disjoint(my_nics, their_nics))
    refuse("the NICs " + list_of(my_nics), "the NICs " + list_of(their_nics));
}

}  // namespace

std::string_view name_of(PathKind path) {
  constexpr std::string_view names[] = {"X", "PIX", "PXB", "PHB", "NODE", "SYS", "?"};
  return names[static_cast<std::size_t>(path)];
}

void MachineFacts::resize(std::size_t gpu_count, std::size_t nic_count) {
  gpus.resize(gpu_count);
  nics.resize(nic_count);
  gpu_gpu.resize(gpu_count);
  gpu_nic.resize(gpu_count);
  nic_nic.resize(nic_count);
  for (auto& row : gpu_gpu) row.resize(gpu_count);
  for (auto& row : gpu_nic) row.resize(nic_count, PathKind::unknown);
  for (auto& row : nic_nic) row.resize(nic_count, PathKind::unknown);
  for (std::size_t i = 0; i < gpu_count; ++i) gpu_gpu[i][i] = {PathKind::self, 0};
  for (std::size_t i = 0; i < nic_count; ++i) nic_nic[i][i] = PathKind::self;
}

MachineFacts merged(MachineFacts first, const MachineFacts& second) {
  require_one_machine(first, second);
  if (first.gpus.empty()) first.resize(second.gpus.size(), first.nics.size());
  note_switch_links(first, second);
  const std::vector<std::optional<std::size_t>> nic = merge_nics(first, second);
  first.resize(first.gpus.size(), first.nics.size());
  for (std::size_t i = 0; i < second.gpus.size(); ++i) {
    if (first.gpus[i].label.empty()) first.gpus[i].label = second.gpus[i].label;
    merge_gpu(first.gpus[i], second.gpus[i]);
    for (std::size_t j = 0; j < nic.size(); ++j) {
      if (!nic[j]) continue;
      PathKind& path = first.gpu_nic[i][*nic[j]];
      if (path == PathKind::unknown) path = second.gpu_nic[i][j];
    }
  }
  if (!second.gpus.empty()) merge_gpu_pairs(first, second);
  for (std::size_t i = 0; i < nic.size(); ++i)
    for (std::size_t j = 0; j < nic.size(); ++j) {
      if (!nic[i] || !nic[j]) continue;
      PathKind& path = first.nic_nic[*nic[i]][*nic[j]];
      if (path == PathKind::unknown) path = second.nic_nic[i][j];
    }
  first.nvswitch = first.nvswitch || second.nvswitch;
  if (!first.socket_rate) first.socket_rate = second.socket_rate;
  if (!first.default_type) first.default_type = second.default_type;
  if (first.cpu.empty()) first.cpu = second.cpu;
  first.notes.push_back(
      fmt::format("{} and {} are taken to be of one machine", first.source, second.source));
  first.notes.insert(first.notes.end(), second.notes.begin(), second.notes.end());
  return first;
}

}  // namespace amsp
