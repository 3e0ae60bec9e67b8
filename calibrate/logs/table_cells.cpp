// SPDX-License-Identifier: Apache-2.0
#include "calibrate/logs/table_cells.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

#include "calibrate/logs/decimal_marks.hpp"

namespace amsp {
namespace {

// "µs" with either of Unicode's two micro signs → "us".
std::string plain_micro(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view two = text.substr(i, 2);
    const bool micro = two == "\xc2\xb5" || two == "\xce\xbc";
    result += micro ? 'u' : text[i];
    if (micro) ++i;
  }
  return result;
}

// Lower case; every run of other characters becomes one blank ("Time (us)" → "time us").
std::string title_words(std::string_view title) {
  std::string result;
  for (std::size_t i = 0; i < title.size() && result.size() < 80; ++i) {
    const auto c = static_cast<unsigned char>(title[i]);
    if (std::isalnum(c) != 0 || c == '#')
      result += static_cast<char>(std::tolower(c));
    else if (c == '/' && i > 0 && i + 1 < title.size())
      result += '/';
    else if (!result.empty() && result.back() != ' ')
      result += ' ';
  }
  while (!result.empty() && result.back() == ' ') result.pop_back();
  return result;
}

struct UnitName {
  std::string_view name;
  double value;
};
constexpr std::array<UnitName, 9> kTimes{{{"ns", 1e-3},
                                          {"us", 1},
                                          {"\xc2\xb5s", 1},
                                          {"usec", 1},
                                          {"ms", 1e3},
                                          {"msec", 1e3},
                                          {"s", 1e6},
                                          {"sec", 1e6},
                                          {"seconds", 1e6}}};
// Case matters: Gb is bits, GB is bytes. The second table is for titles in lower case.
constexpr std::array<UnitName, 10> kRates{{{"GB/s", 1},
                                           {"GBps", 1},
                                           {"Gb/s", 0.125},
                                           {"Gbps", 0.125},
                                           {"Gbit/s", 0.125},
                                           {"MB/s", 1e-3},
                                           {"MBps", 1e-3},
                                           {"TB/s", 1e3},
                                           {"GiB/s", 1.073741824},
                                           {"Mbps", 0.125e-3}}};
constexpr std::array<UnitName, 11> kSizes{{{"b", 1},
                                           {"byte", 1},
                                           {"bytes", 1},
                                           {"kb", 1024},
                                           {"kib", 1024},
                                           {"mb", 1048576},
                                           {"mib", 1048576},
                                           {"gb", 1073741824},
                                           {"gib", 1073741824},
                                           {"k", 1024},
                                           {"m", 1048576}}};

template <std::size_t N>
const UnitName* find_unit(const std::array<UnitName, N>& units, std::string_view name) {
  for (const UnitName& unit : units)
    if (unit.name == name) return &unit;
  return nullptr;
}

struct TitleName {
  std::string_view name;
  Meaning meaning;
};
constexpr std::array<TitleName, 70> kTitles{{{"bus bw", Meaning::busbw},
                                             {"payload", Meaning::size},
                                             {"bus bandwidth", Meaning::busbw},
                                             {"busbandwidth", Meaning::busbw},
                                             {"avg busbw", Meaning::busbw},
                                             {"alg bw", Meaning::algbw},
                                             {"algo bw", Meaning::algbw},
                                             {"algobw", Meaning::algbw},
                                             {"algorithm bandwidth", Meaning::algbw},
                                             {"avg time", Meaning::time},
                                             {"avg latency", Meaning::time},
                                             {"duration", Meaning::time},
                                             {"data size", Meaning::size},
                                             {"buffer size", Meaning::size},
                                             {"msgsize", Meaning::size},
                                             {"num ranks", Meaning::ranks},
                                             {"#gpus", Meaning::ranks},
                                             {"gpu count", Meaning::ranks},
                                             {"n gpus", Meaning::ranks},
                                             {"datatype", Meaning::dtype},
                                             {"data type", Meaning::dtype},
                                             {"reduction", Meaning::redop},
                                             {"errors", Meaning::wrong},
                                             {"collective", Meaning::collective},
                                             {"kind", Meaning::collective},
                                             {"operation", Meaning::collective},
                                             {"test", Meaning::collective},
                                             {"name", Meaning::collective},
                                             {"coll", Meaning::collective},
                                             {"gpus", Meaning::ranks},
                                             {"ranks", Meaning::ranks},
                                             {"nranks", Meaning::ranks},
                                             {"n ranks", Meaning::ranks},
                                             {"ngpus", Meaning::ranks},
                                             {"num gpus", Meaning::ranks},
                                             {"world size", Meaning::ranks},
                                             {"nodes", Meaning::nodes},
                                             {"nnodes", Meaning::nodes},
                                             {"num nodes", Meaning::nodes},
                                             {"ranks per node", Meaning::ranks_per_node},
                                             {"rankspernode", Meaning::ranks_per_node},
                                             {"gpus per node", Meaning::ranks_per_node},
                                             {"nics per node", Meaning::nics_per_node},
                                             {"hdr nics per node", Meaning::nics_per_node},
                                             {"size", Meaning::size},
                                             {"bytes", Meaning::size},
                                             {"message", Meaning::size},
                                             {"message size", Meaning::size},
                                             {"msg size", Meaning::size},
                                             {"count", Meaning::count},
                                             {"type", Meaning::dtype},
                                             {"dtype", Meaning::dtype},
                                             {"redop", Meaning::redop},
                                             {"op", Meaning::redop},
                                             {"root", Meaning::root},
                                             {"time", Meaning::time},
                                             {"latency", Meaning::time},
                                             {"algbw", Meaning::algbw},
                                             {"busbw", Meaning::busbw},
                                             {"#wrong", Meaning::wrong},
                                             {"wrong", Meaning::wrong},
                                             {"place", Meaning::place},
                                             {"inplace", Meaning::place},
                                             {"algo", Meaning::algorithm},
                                             {"algorithm", Meaning::algorithm},
                                             {"proto", Meaning::protocol},
                                             {"protocol", Meaning::protocol},
                                             {"nchannels", Meaning::channels},
                                             {"channels", Meaning::channels},
                                             {"nch", Meaning::channels}}};

std::string_view without_markdown(std::string_view cell) {
  const auto decoration = [](char c) {
    return c == '*' || c == '`' || c == ' ' || c == '\t' || c == '"';
  };
  while (!cell.empty() && decoration(cell.front())) cell.remove_prefix(1);
  while (!cell.empty() && decoration(cell.back())) cell.remove_suffix(1);
  return cell;
}

std::optional<std::string> without_thousands_before_exponent(std::string_view text) {
  const std::size_t exponent = std::min(text.find_first_of("eE"), text.size());
  auto digits = without_thousands(text.substr(0, exponent));
  if (digits) *digits += text.substr(exponent);
  return digits;
}

// The number at the front and what follows it.
struct Leading {
  PrintedNumber number;
  std::string_view rest;
};
std::optional<Leading> leading_number(std::string_view cell) {
  std::size_t end = 0;
  while (end < cell.size() && end < 40 &&
         (std::isdigit(static_cast<unsigned char>(cell[end])) != 0 || cell[end] == '.' ||
          cell[end] == ',' ||
          ((cell[end] == 'e' || cell[end] == 'E') && end > 0 && end + 1 < cell.size() &&
           (std::isdigit(static_cast<unsigned char>(cell[end + 1])) != 0 || cell[end + 1] == '-' ||
            cell[end + 1] == '+')) ||
          ((cell[end] == '-' || cell[end] == '+') && end > 0 &&
           (cell[end - 1] == 'e' || cell[end - 1] == 'E'))))
    ++end;
  const auto digits = without_thousands_before_exponent(cell.substr(0, end));
  const auto number = digits ? parse_printed_number(*digits) : std::nullopt;
  if (!number) return std::nullopt;
  return Leading{*number, trim(cell.substr(end))};
}

}  // namespace

CellColumn parse_column_title(std::string_view written) {
  CellColumn column;
  const std::string plain = plain_micro(written.substr(0, 100));
  const std::string_view title = without_markdown(plain);
  column.title = std::string(title.substr(0, 60));
  std::string words = title_words(title);
  for (const std::string_view mark : {"out of place", "oop", "in place", "ip"}) {
    const std::size_t size = mark.size();
    if (words.compare(0, size, mark) == 0 && words.size() > size && words[size] == ' ') {
      column.in_place = mark[0] == 'i';
      words.erase(0, size + 1);
    } else if (words.size() > size + 1 && words.compare(words.size() - size, size, mark) == 0 &&
               words[words.size() - size - 1] == ' ') {
      column.in_place = mark[0] == 'i';
      words.resize(words.size() - size - 1);
    }
  }
  // The last word may be a unit; its case is read from the title itself.
  const std::size_t blank = words.find_last_of(' ');
  std::string name = words;
  if (blank != std::string::npos) {
    const std::string unit = words.substr(blank + 1);
    std::string as_written(title);
    while (!as_written.empty() && std::isalnum(static_cast<unsigned char>(as_written.back())) == 0)
      as_written.pop_back();
    as_written = as_written.size() >= unit.size()
                     ? as_written.substr(as_written.size() - unit.size())
                     : as_written;
    const UnitName* found = find_unit(kRates, as_written);
    if (found == nullptr) found = find_unit(kTimes, unit);
    if (found == nullptr) found = find_unit(kSizes, unit);
    if (found != nullptr) {
      column.unit = found->value;
      column.unit_stated = true;
      name = words.substr(0, blank);
    }
  }
  for (const TitleName& known : kTitles)
    if (known.name == name) column.meaning = known.meaning;
  if (name == "gpu" || name == "device") column.meaning = Meaning::gpu;
  if (name == "nccl version") column.meaning = Meaning::version;
  if (name == "variant" || name == "kernel") column.meaning = Meaning::variant;
  return column;
}

std::string_view time_unit_name(double microseconds) {
  for (const UnitName& unit : kTimes)
    if (std::abs(unit.value / microseconds - 1) < 1e-6) return unit.name;
  return "";
}

std::optional<Bytes> parse_size_cell(std::string_view cell, double unit) {
  cell = without_markdown(cell);
  const auto leading = leading_number(cell);
  if (!leading || leading->number.value < 0) return std::nullopt;
  const double value = leading->number.value;
  if (leading->rest.empty()) {
    const double bytes = value * unit;
    if (bytes != std::floor(bytes) || bytes > 9e15) return std::nullopt;
    return Bytes(bytes);
  }
  const std::string suffix = to_lower(leading->rest.substr(0, 8));
  static constexpr std::string_view kLetters = "bkmgt";
  const std::size_t power = kLetters.find(suffix[0]);
  if (power == std::string_view::npos) return std::nullopt;
  if (suffix.size() > 1 && suffix.substr(1) != "b" && suffix.substr(1) != "ib") return std::nullopt;
  if (power == 0 && suffix.size() > 1) return std::nullopt;
  const double binary = value * std::pow(1024.0, static_cast<double>(power));
  const double decimal = value * std::pow(1000.0, static_cast<double>(power));
  if (power > 0 && decimal > 0) {
    // "262KB": three digits of a power of two in decimal units.
    const double nearest = std::exp2(std::round(std::log2(decimal)));
    const bool binary_is_round = std::exp2(std::round(std::log2(binary))) == binary;
    if (!binary_is_round && value >= 100 && std::abs(nearest / decimal - 1) < 0.003)
      return Bytes(nearest);
  }
  if (binary != std::floor(binary) || binary > 9e15) return std::nullopt;
  return Bytes(binary);
}

std::optional<PrintedNumber> parse_value_cell(std::string_view cell, double unit) {
  const std::string plain = plain_micro(cell.substr(0, 60));
  auto leading = leading_number(without_markdown(plain));
  if (!leading) return std::nullopt;
  for (const std::string_view spread : {"\xc2\xb1", "+/-", "("}) {  // mean ± deviation
    const std::size_t at = leading->rest.find(spread);
    leading->rest = trim(leading->rest.substr(0, at));
  }
  double scale = unit;
  if (!leading->rest.empty()) {
    const UnitName* found = find_unit(kRates, leading->rest);
    if (found == nullptr) found = find_unit(kTimes, leading->rest);
    if (found == nullptr) return std::nullopt;
    scale = found->value;
  }
  return PrintedNumber{leading->number.value * scale, leading->number.half_unit * scale};
}

}  // namespace amsp
