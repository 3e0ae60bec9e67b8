// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <compare>

namespace amsp {

struct NcclVersion {
  int major = 0;
  int minor = 0;
  int patch = 0;
  auto operator<=>(const NcclVersion&) const = default;
};

}  // namespace amsp
