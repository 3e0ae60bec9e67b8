// SPDX-License-Identifier: Apache-2.0
#include "topologies/import/machine_facts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"

namespace amsp {
namespace {

void merge_gpu(GpuFact& gpu, const GpuFact& other) {
  if (!gpu.type) gpu.type = other.type;
  if (gpu.architecture.empty()) gpu.architecture = other.architecture;
  if (gpu.multiprocessors == 0) gpu.multiprocessors = other.multiprocessors;
  if (gpu.cpus.empty()) gpu.cpus = other.cpus;
  if (gpu.numa.empty()) gpu.numa = other.numa;
  if (gpu.gpu_numa.empty()) gpu.gpu_numa = other.gpu_numa;
  if (!gpu.pcie_rate) gpu.pcie_rate = other.pcie_rate;
  gpu.switch_links = std::max(gpu.switch_links, other.switch_links);
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

// The position in `nics` of each NIC of the other file, by device name; new ones are appended.
std::vector<std::size_t> merge_nics(MachineFacts& facts, const MachineFacts& other) {
  std::vector<std::size_t> position;
  for (const NicFact& nic : other.nics) {
    const auto same = std::find_if(facts.nics.begin(), facts.nics.end(), [&](const NicFact& mine) {
      return mine.device == nic.device || mine.label == nic.label;
    });
    position.push_back(static_cast<std::size_t>(same - facts.nics.begin()));
    if (same == facts.nics.end()) {
      facts.notes.push_back(fmt::format("NIC {} is in {} only", nic.device, other.source));
      facts.nics.push_back(nic);
      continue;
    }
    if (!same->rate) same->rate = nic.rate;
    if (same->numa.empty()) same->numa = nic.numa;
  }
  return position;
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
  if (first.gpus.empty()) first.resize(second.gpus.size(), first.nics.size());
  if (!second.gpus.empty() && first.gpus.size() != second.gpus.size())
    throw InputError(fmt::format("{} shows {} GPUs and {} shows {}: give files of one machine",
                                 first.source, first.gpus.size(), second.source,
                                 second.gpus.size()));
  const std::vector<std::size_t> nic = merge_nics(first, second);
  first.resize(first.gpus.size(), first.nics.size());
  for (std::size_t i = 0; i < second.gpus.size(); ++i) {
    if (first.gpus[i].label.empty()) first.gpus[i].label = second.gpus[i].label;
    merge_gpu(first.gpus[i], second.gpus[i]);
    for (std::size_t j = 0; j < nic.size(); ++j) {
      PathKind& path = first.gpu_nic[i][nic[j]];
      if (path == PathKind::unknown) path = second.gpu_nic[i][j];
    }
  }
  if (!second.gpus.empty()) merge_gpu_pairs(first, second);
  for (std::size_t i = 0; i < nic.size(); ++i)
    for (std::size_t j = 0; j < nic.size(); ++j) {
      PathKind& path = first.nic_nic[nic[i]][nic[j]];
      if (path == PathKind::unknown) path = second.nic_nic[i][j];
    }
  first.nvswitch = first.nvswitch || second.nvswitch;
  if (!first.socket_rate) first.socket_rate = second.socket_rate;
  if (!first.default_type) first.default_type = second.default_type;
  if (first.cpu.empty()) first.cpu = second.cpu;
  first.notes.insert(first.notes.end(), second.notes.begin(), second.notes.end());
  return first;
}

}  // namespace amsp
