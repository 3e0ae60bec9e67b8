// SPDX-License-Identifier: Apache-2.0
#include "sim/fair_share.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

namespace amsp {
namespace {
// Links that fill up within this relative distance fill up together: symmetric flows then get the
// very same rate, whatever the order in which their weights were added.
constexpr double same_level = 1e-12;
}  // namespace

FairShare::FairShare(const std::vector<FoldedLink>& links, std::size_t flows)
    : links_(links.size()), flows_(flows) {
  for (std::size_t l = 0; l < links.size(); ++l) links_[l].capacity = links[l].capacity.value();
}

void FairShare::add(GroupClassId id, const std::vector<ClassLoad>& loads, double stretch) {
  Flow& flow = flows_[id.position()];
  assert(!flow.loads);
  flow.loads = &loads;
  flow.stretch = stretch;
  for (const ClassLoad& load : loads) {
    links_[load.link.position()].uses.push_back({id.index, load.load * stretch});
    touched_.push_back(load.link.position());
  }
}

void FairShare::remove(GroupClassId id) {
  Flow& flow = flows_[id.position()];
  assert(flow.loads);
  for (const ClassLoad& load : *flow.loads) {
    auto& uses = links_[load.link.position()].uses;
    uses.erase(std::find_if(uses.begin(), uses.end(),
                            [&](const Use& use) { return use.flow == id.index; }));
    touched_.push_back(load.link.position());
  }
  flow = Flow{};
}

Bandwidth FairShare::rate(GroupClassId flow) const {
  return Bandwidth(flows_[flow.position()].rate);
}

void FairShare::solve(std::vector<GroupClassId>& changed) {
  ++mark_;
  for (const std::size_t start : touched_) {
    if (links_[start].mark == mark_) continue;
    collect(start);
    if (!members_.empty()) fill();
    for (const int flow : members_) changed.push_back(GroupClassId(flow));
  }
  touched_.clear();
}

// All links and flows connected with a link.
void FairShare::collect(std::size_t start) {
  component_.assign(1, start);
  members_.clear();
  links_[start].mark = mark_;
  for (std::size_t next = 0; next < component_.size(); ++next) {
    LinkState& link = links_[component_[next]];
    link.left = link.capacity;
    link.weight = 0;
    link.rising = static_cast<int>(link.uses.size());
    for (const Use& use : link.uses) {
      link.weight += use.weight;
      Flow& flow = flows_[static_cast<std::size_t>(use.flow)];
      if (flow.mark == mark_) continue;
      flow.mark = mark_;
      flow.frozen = false;
      members_.push_back(use.flow);
      for (const ClassLoad& load : *flow.loads) {
        const std::size_t other = load.link.position();
        if (links_[other].mark == mark_) continue;
        links_[other].mark = mark_;
        component_.push_back(other);
      }
    }
  }
}

void FairShare::fill() {
  std::size_t left = members_.size();
  while (left > 0) {
    double level = std::numeric_limits<double>::infinity();
    std::size_t kept = 0;
    for (const std::size_t l : component_) {
      const LinkState& link = links_[l];
      if (link.rising == 0) continue;
      component_[kept++] = l;
      level = std::min(level, link.left / link.weight);
    }
    component_.resize(kept);
    assert(kept > 0);
    full_.clear();
    for (const std::size_t l : component_)
      if (links_[l].left <= level * (1 + same_level) * links_[l].weight) full_.push_back(l);
    for (const std::size_t l : full_)
      for (const Use& use : links_[l].uses)
        if (!flows_[static_cast<std::size_t>(use.flow)].frozen) {
          freeze(use.flow, level);
          --left;
        }
  }
}

void FairShare::freeze(int id, double level) {
  Flow& flow = flows_[static_cast<std::size_t>(id)];
  flow.frozen = true;
  flow.rate = level;
  for (const ClassLoad& load : *flow.loads) {
    LinkState& link = links_[load.link.position()];
    const double weight = load.load * flow.stretch;
    link.left = std::max(0.0, link.left - level * weight);
    link.weight -= weight;
    --link.rising;
  }
}

}  // namespace amsp
