// SPDX-License-Identifier: Apache-2.0
#include "exec/host_memory.hpp"

#include <fmt/format.h>

#include <istream>
#include <limits>
#include <sstream>

#include "base/error.hpp"
#include "base/units_text.hpp"

namespace amsp {
namespace {

std::string need_key(Rank rank) { return fmt::format("memory of rank/{}", rank.index); }

std::vector<Rank> parse_ranks(const std::string& text) {
  std::istringstream in(text);
  std::vector<Rank> ranks;
  for (int rank = 0; in >> rank;) ranks.emplace_back(rank);
  return ranks;
}

}  // namespace

std::optional<Bytes> available_memory(std::istream& meminfo) {
  std::string word;
  double kibibytes = 0;  // "MemAvailable:   22313844 kB"; this kB is 1024 bytes (man 5 proc)
  while (meminfo >> word) {
    if (word == "MemAvailable:" && meminfo >> kibibytes) return Bytes(kibibytes * 1024);
    meminfo.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::nullopt;
}

void claim_memory(ControlLink& link, Rank rank, const std::string& boot, Bytes need,
                  const std::optional<Bytes>& available) {
  const std::vector<Rank> ranks = parse_ranks(link.get(neighbours_key(boot)));
  const std::string fits = "memory fits/" + boot;
  if (rank != ranks.front()) {
    link.set(need_key(rank), to_text(need));
    link.get(fits);
    return;
  }
  for (Rank other : ranks)
    if (other != rank) need += parse_bytes(link.get(need_key(other)));
  if (available && need > *available)
    throw CheckFailed(
        fmt::format("the buffers of all ranks on this host ({}) need {}, but it has only {} left; "
                    "use a smaller model",
                    ranks.size(), human(need), human(*available)));
  link.set(fits, "");
}

std::string neighbours_key(const std::string& boot) { return "ranks on/" + boot; }

std::string to_text(const std::vector<Rank>& ranks_of_host) {
  std::string text;
  for (Rank rank : ranks_of_host) text += fmt::format("{} ", rank.index);
  return text;
}

}  // namespace amsp
