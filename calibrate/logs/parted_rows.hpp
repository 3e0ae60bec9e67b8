// SPDX-License-Identifier: Apache-2.0
// Rows of nccl-tests whose cells a script or spreadsheet parted by commas, semicolons or bars.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace amsp {

// The line with blanks between its cells where one of those marks parts them: a row whose first
// cell begins with a digit, or a title line. Quoted cells keep their marks, blanks inside a cell
// become "_" or go (thousands), empty cells become N/A, but for those at the end beyond the table's
// columns (0: not known), which are dropped. Other lines are returned as they are; `buffer` holds
// what was made.
std::string_view with_blanks_between(std::string_view line, std::string& buffer,
                                     std::size_t columns);

}  // namespace amsp
