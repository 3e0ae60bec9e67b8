// SPDX-License-Identifier: Apache-2.0
// A table as CSV (base/csv.hpp), the header first.
#pragma once
#include <string>

#include "base/csv.hpp"
#include "report/table.hpp"

namespace amsp {

// Header cells are "header_unit" with blanks as underscores ("step_time_s"), one per column.
std::string csv_text(const Table& table);

}  // namespace amsp
