// SPDX-License-Identifier: Apache-2.0
// Lines of CSV as RFC 4180 has them, but with plain line feeds; fields quoted only where they must
// be.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace amsp {

std::string csv_field(std::string_view text);
std::string csv_line(const std::vector<std::string>& fields);  // with its line feed

}  // namespace amsp
