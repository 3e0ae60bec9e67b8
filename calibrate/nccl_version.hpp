// SPDX-License-Identifier: Apache-2.0
// Which NCCL a machine runs, as far as anybody says.
#pragma once
#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace amsp {

struct NcclVersion {
  int major = 0;
  int minor = 0;
  int patch = 0;
  auto operator<=>(const NcclVersion&) const = default;
};

// The one whose sources the constants are from: what the default model predicts.
constexpr NcclVersion described_nccl{2, 30, 7};
// What is taken where logs name none (June 2024): no algorithm that came later.
constexpr NcclVersion assumed_nccl{2, 22, 3};

// "2.23.4", also with something behind ("2.26.6+cuda12.8"); nothing for other text.
std::optional<NcclVersion> parse_nccl_version(std::string_view text);
std::string to_text(const NcclVersion& version);

}  // namespace amsp
