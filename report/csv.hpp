// SPDX-License-Identifier: Apache-2.0
// CSV as RFC 4180 has it, but with plain line feeds: the header first, fields quoted only where
// they must be.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "report/table.hpp"

namespace amsp {

std::string csv_field(std::string_view text);
std::string csv_line(const std::vector<std::string>& fields);  // with its line feed
// Header cells are "header_unit" with blanks as underscores ("step_time_s"), one per column.
std::string csv_text(const Table& table);

}  // namespace amsp
