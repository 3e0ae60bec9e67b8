// SPDX-License-Identifier: Apache-2.0
#include "calibrate/logs/decimal_marks.hpp"

#include <algorithm>

namespace amsp {
namespace {

enum class Form { plain, point, comma, unclear_point, unclear_comma, malformed };

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The leading number of a cell: digits, points and commas.
struct Leading {
  std::size_t begin = 0, end = 0;
};
Leading leading(std::string_view cell) {
  Leading number;
  while (number.begin < cell.size() && !is_digit(cell[number.begin])) ++number.begin;
  number.end = number.begin;
  while (number.end < cell.size() &&
         (is_digit(cell[number.end]) || cell[number.end] == '.' || cell[number.end] == ','))
    ++number.end;
  return number;
}

// "1,234,567": one to three digits, then groups of three. A first group of 0 parts no thousands.
bool is_grouped(std::string_view digits, char mark) {
  std::size_t at = digits.find(mark);
  if (at == 0 || at > 3 || digits[0] == '0') return false;
  while (at != std::string_view::npos) {
    const std::size_t next = digits.find(mark, at + 1);
    if ((next == std::string_view::npos ? digits.size() : next) - at != 4) return false;
    at = next;
  }
  return true;
}

Form form_with_one_kind(std::string_view digits, char mark) {
  const bool comma = mark == ',';
  const auto marks = std::count(digits.begin(), digits.end(), mark);
  const bool grouped = is_grouped(digits, mark);
  if (marks > 1) return !grouped ? Form::malformed : comma ? Form::point : Form::comma;
  if (grouped) return comma ? Form::unclear_comma : Form::unclear_point;
  return comma ? Form::comma : Form::point;
}

Form form_of(std::string_view digits) {
  const std::size_t comma = digits.rfind(','), point = digits.rfind('.');
  constexpr std::size_t none = std::string_view::npos;
  if (comma == none && point == none) return Form::plain;
  if (comma == none) return form_with_one_kind(digits, '.');
  if (point == none) return form_with_one_kind(digits, ',');
  const bool comma_last = comma > point;
  const std::string_view front = digits.substr(0, comma_last ? comma : point);
  const char mark = comma_last ? '.' : ',';
  if (front.find(comma_last ? ',' : '.') != none || !is_grouped(front, mark))
    return Form::malformed;
  return comma_last ? Form::comma : Form::point;
}

std::string without(std::string_view digits, char mark) {
  std::string result(digits);
  result.erase(std::remove(result.begin(), result.end(), mark), result.end());
  return result;
}

std::string with_point(std::string_view digits) {
  std::string result = without(digits, '.');
  std::replace(result.begin(), result.end(), ',', '.');
  return result;
}

}  // namespace

std::optional<std::string> without_thousands(std::string_view digits) {
  if (digits.find(',') == std::string_view::npos) return std::string(digits);
  const Form form = form_of(digits);
  if (form != Form::point && form != Form::unclear_comma) return std::nullopt;
  return without(digits, ',');
}

void DecimalMarks::see(std::string_view cell, bool whole) {
  const Leading number = leading(cell);
  const Form form = form_of(cell.substr(number.begin, number.end - number.begin));
  if (form == Form::point || (whole && form == Form::unclear_comma)) ++points_;
  if (form == Form::comma) ++commas_;
  if (whole) return;
  if (form == Form::unclear_point) ++unclear_points_;
  if (form == Form::unclear_comma) ++unclear_commas_;
}

DecimalMarks::Mark DecimalMarks::mark() const {
  if (points_ > 0 && commas_ > 0) return Mark::mixed;
  if (commas_ > 0) return Mark::comma;
  if (points_ > 0 || unclear_commas_ == 0 || !comma_decimal_) return Mark::point;
  return unclear_points_ > 0 ? Mark::mixed : Mark::comma;
}

std::optional<std::string> DecimalMarks::plain(std::string_view cell, bool whole) const {
  const Leading number = leading(cell);
  const std::string_view digits = cell.substr(number.begin, number.end - number.begin);
  Form form = form_of(digits);
  if (form == Form::plain || form == Form::malformed) return std::string(cell);
  if (form == Form::unclear_comma) {
    if (whole || mark() == Mark::point)
      form = Form::point;
    else if (mark() == Mark::comma)
      form = Form::comma;
  } else if (form == Form::unclear_point) {
    if (mark() == Mark::point)
      form = Form::point;
    else if (whole)
      form = Form::comma;
  }
  if (form != Form::point && form != Form::comma) return std::nullopt;
  return std::string(cell.substr(0, number.begin)) +
         (form == Form::point ? without(digits, ',') : with_point(digits)) +
         std::string(cell.substr(number.end));
}

}  // namespace amsp
