// SPDX-License-Identifier: Apache-2.0
#include "topologies/import/merged_nics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace amsp {
namespace {

using Positions = std::vector<std::size_t>;

// How much a name says of the device: a matrix numbers all that it shows ("NIC0"), this reader the
// network devices of a tree that names none ("nic0"), the system names devices.
int naming(const NicFact& nic) {
  if (!is_numbered_nic(nic.device)) return 2;
  return nic.device.starts_with("nic") ? 1 : 0;
}

bool same_name(const NicFact& a, const NicFact& b) {
  return a.device == b.device || a.label == b.label;
}

// Those of `facts` that no NIC of `other` has the name of.
Positions unmatched(const MachineFacts& facts, const MachineFacts& other) {
  Positions left;
  for (std::size_t i = 0; i < facts.nics.size(); ++i)
    if (std::none_of(other.nics.begin(), other.nics.end(),
                     [&](const NicFact& nic) { return same_name(nic, facts.nics[i]); }))
      left.push_back(i);
  return left;
}

// Under one switch, on one socket, or elsewhere: finer steps differ between nvidia-smi and NCCL.
int nearness(PathKind path) {
  if (path == PathKind::pix || path == PathKind::pxb) return 0;
  return path == PathKind::phb || path == PathKind::node ? 1 : 2;
}

// Whether the paths to all GPUs, as far as both files show them, are as near.
bool same_place(const MachineFacts& facts, std::size_t mine, const MachineFacts& other,
                std::size_t theirs) {
  for (std::size_t gpu = 0; gpu < std::min(facts.gpu_nic.size(), other.gpu_nic.size()); ++gpu) {
    const auto& my_row = facts.gpu_nic[gpu];
    const auto& their_row = other.gpu_nic[gpu];
    if (mine >= my_row.size() || theirs >= their_row.size()) continue;
    const PathKind a = my_row[mine], b = their_row[theirs];
    if (a != PathKind::unknown && b != PathKind::unknown && nearness(a) != nearness(b))
      return false;
  }
  return true;
}

// For each of `mine` one of `theirs` at its place: the one of its rank, else the first that is
// left. Empty when one finds none.
Positions partners(const MachineFacts& facts, const Positions& mine, const MachineFacts& other,
                   const Positions& theirs) {
  if (mine.size() != theirs.size()) return {};
  bool in_order = true;
  for (std::size_t i = 0; i < mine.size(); ++i)
    in_order = in_order && same_place(facts, mine[i], other, theirs[i]);
  if (in_order) return theirs;
  Positions left = theirs, found;
  for (const std::size_t nic : mine) {
    const auto partner = std::find_if(left.begin(), left.end(), [&](std::size_t candidate) {
      return same_place(facts, nic, other, candidate);
    });
    if (partner == left.end()) return {};
    found.push_back(*partner);
    left.erase(partner);
  }
  return found;
}

std::string names_of(const MachineFacts& facts, const Positions& nics) {
  std::string text;
  for (const std::size_t nic : nics) text += " " + facts.nics[nic].device;
  return text;
}

void leave_out(MachineFacts& facts, const Positions& nics) {
  for (auto at = nics.rbegin(); at != nics.rend(); ++at) {
    const auto offset = static_cast<std::ptrdiff_t>(*at);
    facts.nics.erase(facts.nics.begin() + offset);
    for (auto& row : facts.gpu_nic)
      if (*at < row.size()) row.erase(row.begin() + offset);
    for (auto& row : facts.nic_nic)
      if (*at < row.size()) row.erase(row.begin() + offset);
    if (*at < facts.nic_nic.size()) facts.nic_nic.erase(facts.nic_nic.begin() + offset);
  }
}

// Those of `nics` whose degree of naming is to be kept.
template <class Keep>
Positions those(const MachineFacts& facts, const Positions& nics, Keep keep) {
  Positions kept;
  std::copy_if(nics.begin(), nics.end(), std::back_inserter(kept),
               [&](std::size_t nic) { return keep(naming(facts.nics[nic])); });
  return kept;
}

// The numbered NICs of `worse` that no name of `better` explains, and the better-named ones that
// are left for them.
struct Question {
  Positions numbered, named;
};

Question open_question(const MachineFacts& worse, const MachineFacts& better) {
  const auto mine = unmatched(worse, better), theirs = unmatched(better, worse);
  for (int degree : {0, 1}) {
    Question question{those(worse, mine, [=](int of) { return of == degree; }),
                      those(better, theirs, [=](int of) { return of > degree; })};
    if (!question.numbered.empty()) return question;
  }
  return {};
}

// Whether a file names NICs better than the other's numbered ones, at all.
bool names_better(const MachineFacts& facts, const MachineFacts& numbered, const Positions& nics) {
  return !nics.empty() && std::any_of(facts.nics.begin(), facts.nics.end(), [&](const auto& nic) {
    return naming(nic) > naming(numbered.nics[nics.front()]);
  });
}

std::string said_left_out(const MachineFacts& numbered, const Question& question,
                          const MachineFacts& named) {
  const bool as_many = question.numbered.size() == question.named.size();
  return fmt::format(
      "{} numbers NICs without a legend ({} that match no name:{}), {} names {} more, {}: those of "
      "{} are taken, and the numbered ones left out",
      numbered.source, question.numbered.size(), names_of(numbered, question.numbered),
      named.source, question.named.size(), as_many ? "at other places" : "another number",
      named.source);
}

std::string said_matched(const MachineFacts& numbered, const Positions& nics,
                         const MachineFacts& named, const Positions& partner) {
  std::string pairs;
  for (std::size_t i = 0; i < nics.size(); ++i)
    pairs += fmt::format("{}{} = {}", i > 0 ? ", " : "", numbered.nics[nics[i]].device,
                         named.nics[partner[i]].device);
  return fmt::format(
      "{} numbers its NICs without a legend; in order, at the places that both files show, they "
      "are taken to be those of {}: {}",
      numbered.source, named.source, pairs);
}

std::string gigabits(Bandwidth rate) { return fmt::format("{} Gb/s", rate.value() * 8 / 1e9); }

// Two files that state one NIC's rate differently; the pairs of rates with their NICs.
class Rates {
 public:
  void compare(const NicFact& mine, const NicFact& theirs) {
    if (mine.rate && theirs.rate && *mine.rate != *theirs.rate)
      differ_[{gigabits(*mine.rate), gigabits(*theirs.rate)}] += " " + mine.device;
  }
  void note(MachineFacts& facts, const MachineFacts& other) const {
    for (const auto& [rates, nics] : differ_)
      facts.notes.push_back(
          fmt::format("{} and {} disagree on the rate of{}: {} and {}; {} is taken", facts.source,
                      other.source, nics, rates.first, rates.second, rates.first));
  }

 private:
  std::map<std::pair<std::string, std::string>, std::string> differ_;
};

// What the numbered NICs of one file are in the other: by the position in `other`, that in `facts`.
struct Answer {
  std::map<std::size_t, std::size_t> same;
  Positions left_out;  // of `other`
};

Answer answer(MachineFacts& facts, const MachineFacts& other) {
  Answer result;
  if (const Question mine = open_question(facts, other);
      names_better(other, facts, mine.numbered)) {
    const Positions partner = partners(facts, mine.numbered, other, mine.named);
    if (partner.empty()) {
      facts.notes.push_back(said_left_out(facts, mine, other));
      leave_out(facts, mine.numbered);
      return result;
    }
    facts.notes.push_back(said_matched(facts, mine.numbered, other, partner));
    for (std::size_t i = 0; i < partner.size(); ++i) result.same[partner[i]] = mine.numbered[i];
    return result;
  }
  const Question theirs = open_question(other, facts);
  if (!names_better(facts, other, theirs.numbered)) return result;
  const Positions partner = partners(other, theirs.numbered, facts, theirs.named);
  if (partner.empty()) {
    facts.notes.push_back(said_left_out(other, theirs, facts));
    result.left_out = theirs.numbered;
    return result;
  }
  facts.notes.push_back(said_matched(other, theirs.numbered, facts, partner));
  for (std::size_t i = 0; i < partner.size(); ++i) result.same[theirs.numbered[i]] = partner[i];
  return result;
}

}  // namespace

bool is_numbered_nic(std::string_view device) {
  if (!device.starts_with("NIC") && !device.starts_with("nic")) return false;
  const std::string_view number = device.substr(3);
  return !number.empty() && number.find_first_not_of("0123456789") == std::string_view::npos;
}

std::vector<std::optional<std::size_t>> merge_nics(MachineFacts& facts, const MachineFacts& other) {
  const Answer known = answer(facts, other);
  std::vector<std::optional<std::size_t>> position;
  Rates rates;
  for (std::size_t i = 0; i < other.nics.size(); ++i) {
    const NicFact& nic = other.nics[i];
    if (std::find(known.left_out.begin(), known.left_out.end(), i) != known.left_out.end()) {
      position.emplace_back();
      continue;
    }
    const auto named = known.same.find(i);
    const auto same = named != known.same.end()
                          ? facts.nics.begin() + static_cast<std::ptrdiff_t>(named->second)
                          : std::find_if(facts.nics.begin(), facts.nics.end(),
                                         [&](const NicFact& mine) { return same_name(mine, nic); });
    position.emplace_back(static_cast<std::size_t>(same - facts.nics.begin()));
    if (same == facts.nics.end()) {
      facts.notes.push_back(fmt::format("NIC {} is in {} only", nic.device, other.source));
      facts.nics.push_back(nic);
      continue;
    }
    if (naming(*same) < naming(nic)) same->device = nic.device;
    rates.compare(*same, nic);
    if (!same->rate) same->rate = nic.rate;
    if (same->numa.empty()) same->numa = nic.numa;
  }
  rates.note(facts, other);
  return position;
}

}  // namespace amsp
