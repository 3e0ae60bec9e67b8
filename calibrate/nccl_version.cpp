// SPDX-License-Identifier: Apache-2.0
#include "calibrate/nccl_version.hpp"

#include <fmt/format.h>

#include <charconv>

namespace amsp {

std::optional<NcclVersion> parse_nccl_version(std::string_view text) {
  NcclVersion version;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (int* part : {&version.major, &version.minor, &version.patch}) {
    if (part != &version.major && (at == end || *at++ != '.')) return std::nullopt;
    if (at == end || *at < '0' || *at > '9') return std::nullopt;
    const auto [next, error] = std::from_chars(at, end, *part);
    if (error != std::errc()) return std::nullopt;
    at = next;
  }
  return version;
}

std::string to_text(const NcclVersion& version) {
  return fmt::format("{}.{}.{}", version.major, version.minor, version.patch);
}

}  // namespace amsp
