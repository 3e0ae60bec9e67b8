// SPDX-License-Identifier: Apache-2.0
#include "exec/host_list.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <sstream>

#include "base/error.hpp"
#include "base/file.hpp"

namespace amsp {
namespace {

constexpr int kMostRanks = 4096;  // of one host

int parse_ranks(const std::string& text, const Place& place) {
  int ranks = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ranks);
  if (error != std::errc() || end != text.data() + text.size() || ranks < 1 || ranks > kMostRanks)
    throw InputError(place,
                     fmt::format("\"{}\" is no number of ranks from 1 to {}", text, kMostRanks));
  return ranks;
}

// "a:4", "a 4", "a slots=4" or "a". What ssh would take for an option is no host.
HostRanks parse_host(std::string text, const Place& place) {
  text.erase(0, text.find_first_not_of(" \t\r"));
  text.erase(text.find_last_not_of(" \t\r") + 1);
  const std::size_t end = text.find_first_of(": \t");
  HostRanks host{text.substr(0, end), 1};
  const std::string allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_@";
  if (host.name.empty() || host.name.front() == '-' ||
      host.name.find_first_not_of(allowed) != std::string::npos)
    throw InputError(place, fmt::format("\"{}\" is no host; write e.g. a:4,b:4", text));
  if (end == std::string::npos) return host;
  std::string rest = text.substr(text.find_first_not_of(": \t", end));
  const std::string slots = "slots=";
  if (rest.rfind(slots, 0) == 0) rest.erase(0, slots.size());
  host.ranks = parse_ranks(rest, place);
  return host;
}

}  // namespace

std::vector<HostRanks> parse_hosts(std::string_view text) {
  const std::string given(text);
  std::vector<HostRanks> hosts;
  std::error_code error;
  Place place{"command line", "--hosts"};
  if (std::filesystem::is_regular_file(given, error)) {
    std::istringstream lines(read_file(given));
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      place = {given, fmt::format("line {}", ++number)};
      line.erase(std::min(line.find('#'), line.size()));
      if (line.find_first_not_of(" \t\r") != std::string::npos)
        hosts.push_back(parse_host(line, place));
    }
    if (hosts.empty()) throw InputError(Place{given, ""}, "names no host");
  } else {
    std::istringstream parts(given + ",");
    for (std::string part; std::getline(parts, part, ',');)
      hosts.push_back(parse_host(part, place));
  }
  for (const HostRanks& host : hosts)
    if (host.ranks != hosts.front().ranks)
      throw InputError(place,
                       fmt::format("{} has {} ranks, {} has {}; give all the same number",
                                   hosts.front().name, hosts.front().ranks, host.name, host.ranks));
  return hosts;
}

bool is_this_host(const std::string& name) {
  char own[256] = "";
  gethostname(own, sizeof own - 1);
  return name == "localhost" || name == "127.0.0.1" || name == own;
}

}  // namespace amsp
