// SPDX-License-Identifier: Apache-2.0
#include "topologies/import/gpu_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/counted.hpp"
#include "base/units_text.hpp"
#include "topologies/gpu_architecture.hpp"
#include "topologies/gpu_spec.hpp"
#include "topologies/import/plain_text.hpp"
#include "topologies/import/switch_links.hpp"

namespace amsp {
namespace {

struct Named {
  std::string stem;
  GpuType type;
};

// Read once: an importer asks for every file.
const std::vector<Named>& catalogue() {
  static const std::vector<Named> all = [] {
    std::vector<Named> list;
    const std::vector<std::string> stems = gpu_type_names();
    const std::vector<GpuType> types = gpu_types();
    for (std::size_t i = 0; i < stems.size(); ++i) list.push_back({stems[i], types[i]});
    return list;
  }();
  return all;
}

template <class Fits>
std::vector<const Named*> types_where(Fits fits) {
  std::vector<const Named*> found;
  for (const Named& named : catalogue())
    if (fits(named)) found.push_back(&named);
  return found;
}

// One of several, and how the choice reads.
GpuGuess chosen_as(const Named& choice, const std::vector<const Named*>& fitting,
                   const std::string& what) {
  GpuGuess guess{choice.stem, fmt::format("{} fits {}", what, choice.stem), {}};
  for (const Named* named : fitting)
    if (named != &choice) guess.others.push_back(named->stem);
  if (!guess.others.empty())
    guess.because += fmt::format(" (and {})", fmt::join(guess.others, ", "));
  return guess;
}

GpuGuess chosen(const std::vector<const Named*>& fitting, const std::string& what) {
  const Named* choice = fitting.front();
  for (const Named* named : fitting)
    if (named->type.typical) choice = named;
  return chosen_as(*choice, fitting, what);
}

// The NVLinks that a GPU of this machine can have: of its type where it is named, else of any.
int links_of_a_gpu(const MachineFacts& facts) {
  int most = 0;
  for (const Named& named : catalogue()) {
    if (facts.gpus.front().type == named.stem && named.type.nvlinks > 0) return named.type.nvlinks;
    most = std::max(most, named.type.nvlinks);
  }
  return most;
}

// How many other GPUs a GPU has direct NVLinks to, at most.
std::ptrdiff_t most_peers(const MachineFacts& facts) {
  std::ptrdiff_t most = 0;
  for (const auto& row : facts.gpu_gpu)
    most = std::max(most, std::count_if(row.begin(), row.end(), [](const Relation& relation) {
                      return relation.nvlinks > 0;
                    }));
  return most;
}

// GPUs that are joined by direct links, over others too; of the set that is largest.
std::size_t largest_web(const MachineFacts& facts) {
  std::vector<bool> seen(facts.gpus.size(), false);
  std::size_t most = 0;
  for (std::size_t start = 0; start < facts.gpus.size(); ++start) {
    std::vector<std::size_t> web;
    const auto reach = [&](std::size_t gpu) {
      if (!seen[gpu]) web.push_back(gpu);
      seen[gpu] = true;
    };
    reach(start);
    for (std::size_t next = 0; next < web.size(); ++next)
      for (std::size_t other = 0; other < facts.gpus.size(); ++other)
        if (facts.gpu_gpu[web[next]][other].nvlinks > 0) reach(other);
    most = std::max(most, web.size());
  }
  return most;
}

// No NVLink is seen: the PCIe generation at least tells an age.
GpuGuess guess_without_links(const MachineFacts& facts, int links) {
  if (facts.default_type)
    return {*facts.default_type, fmt::format("{} by the file's age", *facts.default_type), {}};
  const auto pcie = facts.gpus.front().pcie_rate;
  if (links == 0 || !pcie) return {"l40s", "no NVLink is seen; l40s is the default", {}};
  const char* type = *pcie > gigabytes_per_second(40)   ? "h100-sxm5-80gb"
                     : *pcie > gigabytes_per_second(20) ? "a100-sxm4-80gb"
                                                        : "v100-sxm2-32gb";
  return {type, fmt::format("{} is the default for its PCIe rate", type), {}};
}

GpuGuess guess_by_links(const MachineFacts& facts) {
  const int links = nvlinks_per_gpu(facts);
  if (links <= 0) return guess_without_links(facts, links);
  const std::string what = fmt::format("{} NVLinks per GPU", links);
  const auto named = [&what](const char* type, const char* why) -> GpuGuess {
    return {type, fmt::format("{}{} fits {}", what, why, type), {}};
  };
  // GPUs that are NUMA nodes hang on Grace CPUs.
  const bool grace = !facts.gpus.front().gpu_numa.empty();
  if (grace && links == 18)
    return named(through_switch(facts) ? "gb200-186gb" : "gh200-96gb", " and a GPU NUMA ID");
  if (links == 6 && facts.gpus.size() > 8) return named("v100-sxm3-32gb", " through a switch");
  // Bridges join two cards: several peers with few links are a part of a V100 cube.
  if (links < 6 && most_peers(facts) > 1) return named("v100-sxm2-32gb", " to several GPUs");
  const auto with_links = [links](bool card) {
    return types_where([=](const Named& type) {
      return type.type.nvlinks == links && (type.stem.find("pcie") != std::string::npos) == card;
    });
  };
  // Several GPUs of which each has one peer are cards with bridges.
  const bool bridged = facts.gpus.size() > 2 && most_peers(facts) == 1;
  auto fitting = with_links(bridged);
  if (fitting.empty()) fitting = with_links(!bridged);
  if (fitting.empty())
    return {"h100-sxm5-80gb",
            fmt::format("no type of the catalogue has {}; h100-sxm5-80gb is the default", what),
            {}};
  // Of several generations with as many links, the commonest.
  for (const char* common :
       {"h100-sxm5-80gb", "a100-sxm4-80gb", "a100-pcie-80gb", "v100-sxm2-32gb", "rtx-a6000"})
    for (const Named* type : fitting)
      if (type->stem == common) return chosen_as(*type, fitting, what);
  return chosen(fitting, what);
}

// "|   0  NVIDIA H100 80GB HBM3          On  | …" of nvidia-smi; names that it cut are passed over.
std::optional<std::string> gpu_type_in_table(std::string_view text) {
  if (text.find("NVIDIA-SMI ") == std::string_view::npos) return std::nullopt;
  for (const std::string& line : plain_lines(text)) {
    const auto words = words_of(line);
    if (words.size() < 3 || words[0] != "0") continue;
    std::string name;
    for (std::size_t i = 1; i < words.size() && words[i] != "On" && words[i] != "Off"; ++i)
      name += (name.empty() ? "" : " ") + std::string(words[i]);
    for (const Named& named : catalogue())
      if (named.type.spec.name == name) return named.stem;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> gpu_type_in_text(std::string_view text,
                                            std::vector<std::string>& notes) {
  if (const auto type = gpu_type_in_table(text)) return type;
  constexpr std::size_t kMostNames = 8;  // a report names each type once or a few times
  std::set<std::string> unknown;
  if (text.find("GPU 0") == std::string_view::npos) return std::nullopt;
  for (const std::string& line : plain_lines(text)) {
    const std::size_t at = line.find("GPU 0: ");
    if (at == std::string::npos || unknown.size() >= kMostNames) continue;
    std::string name = line.substr(at + 7, 100);
    name.resize(std::min(name.size(), name.find(" (")));
    while (!name.empty() && name.back() == ' ') name.pop_back();
    if (name.empty() || unknown.contains(name)) continue;
    try {
      const GpuType type = find_gpu_type(name);
      for (const Named& named : catalogue())
        if (named.type.spec.name == type.spec.name) return named.stem;
    } catch (const InputError&) {
      unknown.insert(name);
    }
  }
  for (const std::string& name : unknown)
    notes.push_back(
        fmt::format("the file names the GPU \"{}\", which is no type of the catalogue", name));
  return std::nullopt;
}

std::optional<std::string> gpu_type_of_device(std::string_view pci_device) {
  for (const Named& named : catalogue())
    for (const std::string& device : named.type.pci_devices)
      if (device == pci_device) return named.stem;
  return std::nullopt;
}

int nvlinks_per_gpu(const MachineFacts& facts) {
  if (through_switch(facts))
    if (const int links = switch_links(facts).usual; links > 0) return links;
  int most = facts.gpus.size() > 1 ? -1 : 0;
  for (std::size_t a = 0; a < facts.gpus.size(); ++a) {
    int direct = -1;
    for (std::size_t b = 0; b < facts.gpus.size(); ++b)
      if (const int links = facts.gpu_gpu[a][b].nvlinks; a != b && links >= 0)
        direct = std::max(0, direct) + links;
    most =
        std::max({most, direct, facts.gpus[a].switch_links > 0 ? facts.gpus[a].switch_links : -1});
  }
  return most;
}

bool through_switch(const MachineFacts& facts) {
  if (facts.nvswitch) return true;
  // Twelve links of an A100 are at most NV4 to three others; NV12 to three others needs a switch.
  // A GPU whose links are degraded or down changes nothing about the others.
  const int limit = links_of_a_gpu(facts);
  for (std::size_t gpu = 0; gpu < facts.gpus.size(); ++gpu) {
    int direct = 0, peers = 0;
    for (std::size_t other = 0; other < facts.gpus.size(); ++other) {
      const int links = facts.gpu_gpu[gpu][other].nvlinks;
      if (other == gpu || links <= 0) continue;
      direct += links;
      ++peers;
    }
    if (peers > 1 && direct > limit) return true;
  }
  return false;
}

std::string said_as_assumption(const GpuGuess& guess) {
  std::string memory = fmt::format("{} of memory and its rates are taken with it",
                                   human(find_gpu_type(guess.type).spec.memory));
  std::vector<Bytes> others;
  for (const std::string& stem : guess.others) others.push_back(find_gpu_type(stem).spec.memory);
  if (!others.empty()) {
    const auto [least, most] = std::minmax_element(others.begin(), others.end());
    memory += *least == *most
                  ? fmt::format(" (the others have {})", human(*least))
                  : fmt::format(" (the others have {} to {})", human(*least), human(*most));
  }
  return fmt::format(
      "the GPU model is a guess, for the files do not name it: {}; {}; name it with --gpu",
      guess.because, memory);
}

GpuGuess guess_gpu_type(const MachineFacts& facts) {
  const GpuFact& first = facts.gpus.front();
  if (first.type) return {*first.type, "", {}};
  const int links = nvlinks_per_gpu(facts);
  if (first.architecture.empty()) return guess_by_links(facts);
  auto fitting = types_where(
      [&](const Named& named) { return named.type.architecture == first.architecture; });
  if (fitting.empty()) {
    GpuGuess guess = guess_by_links(facts);
    // Later than all that the catalogue knows of NVIDIA's data-centre line.
    if (first.architecture.starts_with("sm_10"))
      guess = {"b300-sxm-288gb", "b300-sxm-288gb is the default", {}};
    guess.because = fmt::format("architecture {} is not in the catalogue; {}", first.architecture,
                                guess.because);
    return guess;
  }
  const auto keep = [&fitting](auto fits) {
    std::vector<const Named*> better;
    for (const Named* named : fitting)
      if (fits(named->type)) better.push_back(named);
    if (!better.empty()) fitting = better;
  };
  if (first.multiprocessors > 0)
    keep([&](const GpuType& type) { return type.spec.multiprocessors == first.multiprocessors; });
  // A bridge joins two or four cards; more GPUs in one web of links are modules (MI250, MI250X).
  constexpr std::size_t kMostBridged = 4;
  if (largest_web(facts) > kMostBridged)
    keep([](const GpuType& type) { return !has_bridges_only(type); });
  if (links > 0) keep([&](const GpuType& type) { return type.nvlinks == links; });
  return chosen(fitting, fmt::format("architecture {}", first.architecture));
}

namespace {

// NVLinks of the model that a file names (by type or architecture); 0 = not named, or none.
int links_of_named_model(const MachineFacts& facts) {
  const GpuFact& gpu = facts.gpus.front();
  int most = 0;
  for (const Named& named : catalogue())
    if (gpu.type ? gpu.type == named.stem : gpu.architecture == named.type.architecture)
      most = std::max(most, named.type.nvlinks);
  return most;
}

// Two GPUs that show as many links in both files.
bool share_a_pair(const MachineFacts& first, const MachineFacts& second) {
  const std::size_t gpus = std::min(first.gpus.size(), second.gpus.size());
  for (std::size_t a = 0; a < gpus; ++a)
    for (std::size_t b = a + 1; b < gpus; ++b)
      if (const int links = first.gpu_gpu[a][b].nvlinks;
          links > 0 && links == second.gpu_gpu[a][b].nvlinks)
        return true;
  return false;
}

std::string model_of(const MachineFacts& facts, int links) {
  return fmt::format("GPUs of {} each (as {})", counted(links, "NVLink"),
                     guess_gpu_type(facts).type);
}

}  // namespace

std::optional<ModelsByLinks> models_differ(const MachineFacts& first, const MachineFacts& second) {
  if (first.gpus.empty() || second.gpus.empty()) return std::nullopt;
  const int mine = nvlinks_per_gpu(first), theirs = nvlinks_per_gpu(second);
  const int my_model = links_of_named_model(first), their_model = links_of_named_model(second);
  const auto of_a_type = [](int links) {
    return !types_where([=](const Named& named) { return named.type.nvlinks == links; }).empty();
  };
  // Fewer links than a named model has may be down; more cannot be.
  bool differ = (my_model > 0 && theirs > my_model) || (their_model > 0 && mine > their_model);
  if (my_model == 0 && their_model == 0)
    differ = mine > 0 && theirs > 0 && mine != theirs && of_a_type(mine) && of_a_type(theirs) &&
             !share_a_pair(first, second);
  if (!differ) return std::nullopt;
  const auto read_as = [](const MachineFacts& facts, int links) {
    return links > 0 ? model_of(facts, links)
                     : fmt::format("GPUs of type {}", guess_gpu_type(facts).type);
  };
  return ModelsByLinks{read_as(first, mine), read_as(second, theirs)};
}

}  // namespace amsp
