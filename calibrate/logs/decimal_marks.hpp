// SPDX-License-Identifier: Apache-2.0
// Points and commas inside numbers: "1,234.5", "1.234,5", "30,78", and "11,310", which is either.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace amsp {

// Digits without thousands commas: "1,048,576.5" → "1048576.5". Nothing when a comma does not part
// groups of three digits ("30,78"); a text without commas stays as it is.
std::optional<std::string> without_thousands(std::string_view digits);

// The cells of one table, seen before the first is read, tell which mark is the decimal one.
class DecimalMarks {
 public:
  // `comma_decimal`: what a lone comma before three digits means where no cell tells: in files
  // whose cells commas do not part, a decimal comma.
  explicit DecimalMarks(bool comma_decimal) : comma_decimal_(comma_decimal) {}
  // `whole`: the column holds whole numbers (bytes, counts), so a mark in it parts thousands.
  void see(std::string_view cell, bool whole);
  // The cell with its leading number in the form 1234.5; nothing when it may mean two numbers.
  [[nodiscard]] std::optional<std::string> plain(std::string_view cell, bool whole) const;
  [[nodiscard]] bool commas_are_decimal() const { return mark() == Mark::comma; }

 private:
  enum class Mark { point, comma, mixed };
  [[nodiscard]] Mark mark() const;

  bool comma_decimal_;
  // Cells that can only have a decimal point, only a decimal comma, or either.
  std::size_t points_ = 0, commas_ = 0, unclear_points_ = 0, unclear_commas_ = 0;
};

}  // namespace amsp
