// SPDX-License-Identifier: Apache-2.0
// Decimal commas in tables whose columns blanks part: all rows of a text are seen before the first
// is read.
#pragma once
#include <string>
#include <string_view>

#include "calibrate/logs/decimal_marks.hpp"

namespace amsp {

// The marks in the rows of an nccl-tests table (size, count, type, numbers).
DecimalMarks marks_of_rows(std::string_view content);

// A cell of such a row as it is read: "1,429.40" → "1429.40", and where commas are decimal ones
// "12,34" → "12.34". Words that are no number, or may be two, stay.
std::string plain_cell(std::string_view word, const DecimalMarks& marks, bool whole);

}  // namespace amsp
