// SPDX-License-Identifier: Apache-2.0
#include "topologies/import/switch_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace amsp {
namespace {

constexpr std::size_t kMostNamed = 6;  // pairs in one note

struct Pair {
  std::size_t a = 0, b = 0;
  int links = 0;
};

std::string links_text(int links) { return links == 0 ? "no NVLink" : fmt::format("NV{}", links); }

// The commonest of these counts; of equally common ones the greatest; 0 when there is none.
int commonest(const std::vector<int>& counts) {
  std::map<int, int> times;
  for (const int count : counts)
    if (count > 0) ++times[count];
  int best = 0;
  for (const auto& [count, seen] : times)
    if (best == 0 || seen >= times[best]) best = count;
  return best;
}

// What the tree says, else the most that a GPU shows to any other; -1 = nothing is known.
int most_shown(const MachineFacts& facts, std::size_t gpu) {
  int most = facts.gpus[gpu].switch_links > 0 ? facts.gpus[gpu].switch_links : -1;
  for (std::size_t other = 0; other < facts.gpus.size(); ++other)
    if (other != gpu) most = std::max(most, facts.gpu_gpu[gpu][other].nvlinks);
  return most;
}

std::string named(const std::vector<Pair>& pairs, const MachineFacts& facts) {
  std::string text;
  for (std::size_t i = 0; i < std::min(pairs.size(), kMostNamed); ++i)
    text += fmt::format("{}{}-{}", i == 0 ? "" : ", ", facts.gpus[pairs[i].a].label,
                        facts.gpus[pairs[i].b].label);
  if (pairs.size() > kMostNamed) text += fmt::format(" and {} more", pairs.size() - kMostNamed);
  return text;
}

// Pairs whose number is not the smaller of both GPUs' links, by what they show.
std::map<int, std::vector<Pair>> contradictions(const MachineFacts& facts,
                                                const std::vector<int>& of_gpu) {
  std::map<int, std::vector<Pair>> found;
  for (std::size_t a = 0; a < of_gpu.size(); ++a)
    for (std::size_t b = a + 1; b < of_gpu.size(); ++b) {
      const int shown = facts.gpu_gpu[a][b].nvlinks;
      // A tree lists links to the switch, so its pairs show none.
      const bool listed = facts.gpus[a].switch_links > 0 || facts.gpus[b].switch_links > 0;
      if (shown < 0 || (shown == 0 && listed) || of_gpu[a] < 0 || of_gpu[b] < 0) continue;
      if (shown != std::min(of_gpu[a], of_gpu[b])) found[shown].push_back({a, b, shown});
    }
  return found;
}

void note_slower(const MachineFacts& facts, SwitchLinks& links) {
  for (std::size_t gpu = 0; gpu < links.of_gpu.size(); ++gpu) {
    const int own = links.of_gpu[gpu];
    if (own < 0 || own >= links.usual) continue;
    links.notes.push_back(fmt::format(
        "{} shows {} where most GPUs show NV{}: {}", facts.gpus[gpu].label, links_text(own),
        links.usual,
        own == 0 ? "it is not on the NVSwitch; the cluster joins it by PCIe alone"
                 : fmt::format("{} of its links {} down; the cluster gives it {} (slower_gpus)",
                               links.usual - own, links.usual - own == 1 ? "is" : "are", own)));
  }
}

}  // namespace

SwitchLinks switch_links(const MachineFacts& facts) {
  SwitchLinks links;
  for (std::size_t gpu = 0; gpu < facts.gpus.size(); ++gpu)
    links.of_gpu.push_back(most_shown(facts, gpu));
  links.usual = commonest(links.of_gpu);
  for (int& own : links.of_gpu) own = std::min(own, links.usual);
  note_slower(facts, links);
  for (const auto& [shown, pairs] : contradictions(facts, links.of_gpu))
    links.notes.push_back(fmt::format(
        "{} show{} {}, but the rest of their rows says otherwise: on an NVSwitch a pair has the "
        "smaller of both GPUs' links. {} not used; each GPU has what the rest of its row shows",
        named(pairs, facts), pairs.size() == 1 ? "s" : "", links_text(shown),
        pairs.size() == 1 ? "That cell is" : "Those cells are"));
  return links;
}

std::vector<std::string> odd_mesh_pairs(const MachineFacts& facts) {
  std::map<int, std::vector<Pair>> by_links;
  for (std::size_t a = 0; a < facts.gpus.size(); ++a)
    for (std::size_t b = a + 1; b < facts.gpus.size(); ++b)
      if (const int shown = facts.gpu_gpu[a][b].nvlinks; shown >= 0)
        by_links[shown].push_back({a, b, shown});
  if (by_links.size() != 2) return {};
  const auto& [fewer, odd] = *by_links.begin();
  const auto& [usual, others] = *by_links.rbegin();
  // A cube or a set of bridges has as many pairs of one kind as of the other; a fault is rare.
  if (odd.size() * 4 > others.size() || others.size() < 4) return {};
  return {fmt::format("{} {} {} where all other pairs have NV{}: {} may be down; {} taken as shown",
                      named(odd, facts), odd.size() == 1 ? "has" : "have", links_text(fewer), usual,
                      usual - fewer == 1 ? "a link" : "links",
                      odd.size() == 1 ? "it is" : "they are")};
}

}  // namespace amsp
