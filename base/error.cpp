// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace amsp {
namespace {

std::string located(const Place& place, std::string_view message) {
  std::string text;
  if (!place.file.empty()) text += place.file + ": ";
  if (!place.where.empty()) text += place.where + ": ";
  return text.append(message);
}

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// Levenshtein distance, case-insensitive, one row at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      const std::size_t change = diagonal + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
      row[j] = std::min({above + 1, row[j - 1] + 1, change});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

InputError::InputError(const Place& place, std::string_view message)
    : std::runtime_error(located(place, message)) {}
InputError::InputError(std::string_view message) : InputError(Place{}, message) {}

std::string nearest_name(std::string_view found, const std::vector<std::string>& accepted) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, found.size() / 3) + 1;
  for (const std::string& name : accepted) {
    std::size_t distance = edit_distance(found, name);
    if (found.size() >= 3 && name.find(found) != std::string::npos)
      distance = std::min<std::size_t>(distance, 2);
    if (distance < best_distance) {
      best_distance = distance;
      best = name;
    }
  }
  return best;
}

std::string unknown_name(std::string_view what, std::string_view found,
                         const std::vector<std::string>& accepted) {
  std::string text = "unknown ";
  text.append(what).append(" \"").append(found).append("\"");
  if (const std::string near = nearest_name(found, accepted); !near.empty())
    text += "; did you mean \"" + near + "\"?";
  if (accepted.empty()) return text;
  text += text.back() == '?' ? " Accepted: " : "; accepted: ";
  constexpr std::size_t kShown = 24;
  for (std::size_t i = 0; i < accepted.size() && i < kShown; ++i)
    text += (i == 0 ? "" : ", ") + accepted[i];
  if (accepted.size() > kShown) text += ", …";
  return text;
}

}  // namespace amsp
