// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <sstream>

#include "base/counted.hpp"
#include "calibrate/kernel_calibration.hpp"

namespace amsp {
namespace {

std::vector<std::string> split(std::string_view line) {
  std::vector<std::string> cells;
  std::string cell;
  for (const char c : line) {
    if (c == ',') {
      cells.push_back(cell);
      cell.clear();
    } else if (c != '\r' && c != ' ' && c != '"') {
      cell += c;
    }
  }
  cells.push_back(cell);
  return cells;
}

// Blank lines and comments hold nothing.
bool is_skipped(std::string_view line) {
  return line.starts_with("#") || line.find_first_not_of(" \r\t") == std::string_view::npos;
}

struct TimeColumn {
  std::string_view name;
  double seconds;  // of its unit
};
constexpr std::array kTimeColumns{TimeColumn{"time_s", 1}, TimeColumn{"time_ms", 1e-3},
                                  TimeColumn{"time_us", 1e-6}, TimeColumn{"time_ns", 1e-9}};

// The first of the known ones that the header has.
TimeColumn time_column(const std::vector<std::string>& header, const Place& place) {
  for (const TimeColumn& column : kTimeColumns)
    if (std::find(header.begin(), header.end(), column.name) != header.end()) return column;
  throw InputError(place,
                   fmt::format("has no column of times; found: {}; accepted: time_s, time_ms, "
                               "time_us or time_ns",
                               fmt::join(header, ", ")));
}

class Row {
 public:
  Row(const std::vector<std::string>& header, std::vector<std::string> cells, Place place)
      : place_(std::move(place)) {
    if (cells.size() != header.size()) {
      throw InputError(place_, "has " + counted(cells.size(), "cell") + "; the header has " +
                                   std::to_string(header.size()));
    }
    for (std::size_t i = 0; i < cells.size(); ++i) cells_[header[i]] = std::move(cells[i]);
  }
  [[nodiscard]] std::string text(const std::string& column) const {
    const auto cell = cells_.find(column);
    return cell == cells_.end() ? "" : cell->second;
  }
  [[nodiscard]] std::int64_t whole(const std::string& column) const {
    const double value = number(column);
    if (value < 1 || value > 1e12 || value != std::floor(value)) {
      throw InputError(place_,
                       column + " is " + text(column) + "; a whole number from 1 is needed");
    }
    return static_cast<std::int64_t>(value);
  }
  [[nodiscard]] double number(const std::string& column) const {
    if (!cells_.contains(column)) throw InputError(place_, "the header has no column " + column);
    const std::string cell = text(column);
    double value = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc{} || end != cell.data() + cell.size() || !std::isfinite(value)) {
      throw InputError(place_, "column " + column + " holds \"" + cell + "\"; a number is needed");
    }
    return value;
  }
  [[nodiscard]] const Place& place() const { return place_; }

 private:
  Place place_;
  std::map<std::string, std::string> cells_;
};

Kernel gemm_of(const Row& row) {
  Kernel kernel;
  kernel.kind = KernelClass::gemm;
  if (row.text("m").empty()) {  // a Linear of hidden x hidden on `tokens` rows
    kernel.m = row.whole("tokens");
    kernel.n = kernel.k = row.whole("hidden");
  } else {
    kernel.m = row.whole("m");
    kernel.n = row.whole("n");
    kernel.k = row.whole("k");
  }
  return kernel;
}

Kernel attention_of(const Row& row) {
  Kernel kernel;
  const std::string direction = row.text("direction");
  const bool backward = direction == "bwd" || direction == "backward";
  if (!backward && direction != "fwd" && direction != "forward") {
    throw InputError(row.place(), "direction is \"" + direction + "\"; accepted: fwd, bwd");
  }
  kernel.kind = backward ? KernelClass::attention_backward : KernelClass::attention_forward;
  kernel.sequences = row.text("sequences").empty() ? 1 : row.whole("sequences");
  kernel.sequence_length = row.whole("tokens");
  kernel.head_dim = row.whole("head_dim");
  const std::int64_t hidden = row.whole("hidden");
  if (hidden % kernel.head_dim != 0) {
    throw InputError(row.place(), "hidden is not a multiple of head_dim");
  }
  kernel.heads = kernel.kv_heads = hidden / kernel.head_dim;
  return kernel;
}

KernelTime kernel_of(const Row& row, const TimeColumn& times) {
  const std::string name = row.text("kernel");
  KernelTime result;
  if (name.starts_with("linear") || name == "gemm") {
    result.kernel = gemm_of(row);
  } else if (name.find("attention") != std::string::npos) {
    result.kernel = attention_of(row);
  } else {
    throw InputError(
        row.place(),
        unknown_name("kernel", name, {"linear_hxh_bf16", "gemm", "flash_attention_causal"}));
  }
  if (!row.text("dtype").empty()) result.kernel.dtype = parse_dtype(row.text("dtype"), row.place());
  result.source = row.place().file;
  result.place = row.place().where;
  const std::string column(times.name);
  result.time = Seconds(row.number(column) * times.seconds);
  if (!(result.time > Seconds(0)) || result.time > Seconds(3600)) {
    throw InputError(row.place(), column + " is " + row.text(column) +
                                      "; a time above 0 and below an hour is needed");
  }
  return result;
}

}  // namespace

bool looks_like_kernel_csv(std::string_view text) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    if (!is_skipped(line)) {
      const auto cells = split(line);
      return cells.size() > 1 && cells.front() == "kernel";
    }
    begin = end + 1;
  }
  return false;
}

std::vector<KernelTime> read_kernel_csv(std::string_view text, std::string_view file) {
  std::vector<KernelTime> rows;
  std::vector<std::string> header;
  TimeColumn times{};
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (is_skipped(line)) continue;
    const Place place{std::string(file), "line " + std::to_string(number)};
    if (header.empty()) {
      header = split(line);
      if (header.front() != "kernel") {
        throw InputError(place, "the first column is \"" + header.front() + "\", not \"kernel\"");
      }
      times = time_column(header, place);
    } else {
      rows.push_back(kernel_of(Row(header, split(line), place), times));
    }
  }
  if (rows.empty()) throw InputError({std::string(file), ""}, "has no rows of kernel times");
  return rows;
}

}  // namespace amsp
