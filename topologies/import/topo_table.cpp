// SPDX-License-Identifier: Apache-2.0
#include "topologies/import/topo_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>

#include "topologies/import/plain_text.hpp"

namespace amsp {
namespace {

using Words = std::vector<std::string_view>;

constexpr std::size_t kMostDevices = 512;  // a rack-scale NVLink domain has 72 GPUs and 72 NICs

bool all_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// A device's name in the header: GPU0, NIC3, mlx5_0, mlx5_bond_0, hfi1_0, rdmap113s0 …
bool is_device_word(std::string_view word) {
  if (word.empty() || !std::isalpha(static_cast<unsigned char>(word[0]))) return false;
  const bool has_digit = std::any_of(word.begin(), word.end(), [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
  });
  return has_digit && !is_path_word(word) && std::all_of(word.begin(), word.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.' ||
                  c == ':';
         });
}

// Between a header's first GPU and its tail every name is a column, also one without a digit.
bool is_column_word(std::string_view word) {
  return is_device_word(word) ||
         (std::all_of(word.begin(), word.end(),
                      [](char c) {
                        return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-';
                      }) &&
          std::isalpha(static_cast<unsigned char>(word[0])) && !is_path_word(word));
}

// "NODENODE", "SYSSYS": cells that a column too narrow for its name left without a blank.
Words with_glued_cells_parted(const Words& words) {
  Words parted;
  for (const std::string_view word : words) {
    const std::size_t before = parted.size();
    std::string_view rest = word;
    while (!rest.empty() && !is_path_word(word)) {
      std::size_t length = std::min<std::size_t>(4, rest.size());  // NV18 before NV1
      while (length > 1 && !is_path_word(rest.substr(0, length))) --length;
      if (length < 2) break;
      parted.push_back(rest.substr(0, length));
      rest.remove_prefix(length);
    }
    if (!rest.empty()) parted.resize(before);
    if (parted.size() == before) parted.push_back(word);
  }
  return parted;
}

bool starts_tail(std::string_view word) {
  return word == "CPU" || word == "NUMA" || word == "GPU" || word.starts_with("CPU_") ||
         word == "Affinity";
}

// A line that is a header: GPU0 … without any path word. Returns the position of its first device.
std::size_t header_start(const Words& words) {
  for (const std::string_view word : words)
    if (is_path_word(word) && word != "X") return words.size();
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!is_gpu_label(words[i])) continue;
    const bool goes_on =
        i + 1 == words.size() || is_device_word(words[i + 1]) || starts_tail(words[i + 1]);
    return goes_on ? i : words.size();
  }
  return words.size();
}

void read_header(const Words& words, std::size_t start, TopoTable& table) {
  std::size_t i = start;
  for (; i < words.size() && !starts_tail(words[i]) && table.columns.size() < kMostDevices; ++i)
    if (is_column_word(words[i])) table.columns.emplace_back(words[i]);
  const std::string rest =
      fmt::format("{}", fmt::join(words.begin() + static_cast<long>(i), words.end(), " "));
  for (const char* name : {"CPU Affinity", "NUMA Affinity", "GPU NUMA ID"})
    if (rest.find(name) != std::string::npos) table.tail_columns.emplace_back(name);
}

// The position of a row's label: a device or known column, followed by a path word.
std::size_t label_position(const Words& words, const std::vector<std::string>& columns) {
  const auto is_label = [&columns](std::string_view word) {
    return is_device_word(word) || std::find(columns.begin(), columns.end(), word) != columns.end();
  };
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    if (is_label(words[i]) && is_path_word(words[i + 1])) return i;
  // A whole row whose first cell is none: at least half of its cells must be paths.
  for (std::size_t i = 0; i + columns.size() < words.size() && !columns.empty(); ++i) {
    if (std::find(columns.begin(), columns.end(), words[i]) == columns.end()) continue;
    const auto first = words.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    const auto paths =
        std::count_if(first, first + static_cast<std::ptrdiff_t>(columns.size()), is_path_word);
    return static_cast<std::size_t>(paths) * 2 >= columns.size() ? i : words.size();
  }
  return words.size();
}

// A word that is neither a path nor a list of CPUs or NUMA nodes (decimal, or a mask in hex).
bool is_foreign(std::string_view word) {
  return !is_path_word(word) && word.find_first_not_of("0123456789abcdef,-x") != word.npos;
}

// A list that a blank cut after its comma is put together again.
std::vector<std::string> tail_of(const Words& words, std::size_t from) {
  std::vector<std::string> tail;
  for (std::size_t i = from; i < words.size(); ++i) {
    if (!tail.empty() && tail.back().ends_with(','))
      tail.back() += words[i];
    else
      tail.emplace_back(words[i]);
  }
  return tail;
}

class TableReader {
 public:
  TopoTable read(std::string_view text) {
    const std::vector<std::string> lines = plain_lines(text);
    for (number_ = 1; number_ <= lines.size(); ++number_)
      take(with_glued_cells_parted(words_of(lines[number_ - 1])));
    if (table_.columns.empty() && !table_.rows.empty()) columns_from_rows();
    if (matrices_ > 1)
      table_.notes.push_back(fmt::format("{} matrices in the file; the first is taken", matrices_));
    if (!later_rows_.empty())
      table_.notes.push_back(fmt::format(
          "the first matrix lacks the rows of{}; those of the next, of the same devices, are taken",
          later_rows_));
    return std::move(table_);
  }

 private:
  void take(const Words& words) {
    if (words.empty()) {
      open_row_ = false;
      return;
    }
    if (!other_machine_ && take_legend(words)) return;
    const std::size_t start = header_start(words);
    if (start < words.size()) {
      open_row_ = false;
      if (!table_.rows.empty() || !table_.columns.empty()) {
        // A header that a narrow terminal wrapped goes on; another one starts a second matrix.
        if (table_.rows.empty() && words[start] != table_.columns.front()) {
          read_header(words, start, table_);
        } else {
          count_matrix();
          start_next_matrix(words, start);
        }
        return;
      }
      count_matrix();
      read_header(words, start, table_);
      return;
    }
    if (is_peer_access_row(words)) return pass_over_peer_access();
    if (other_machine_) return;
    if (open_tail_ && take_tail_rest(words)) return;
    const std::size_t label = label_position(words, table_.columns);
    if (label < words.size())
      take_row(words, label);
    else if (open_row_ && is_path_word(words[0]))
      take_cells(words, 0);
    else
      take_header_rest(words);
  }

  void count_matrix() {
    ++matrices_;
    header_open_ = true;
  }

  // The header above it was of that matrix.
  void pass_over_peer_access() {
    open_row_ = false;
    if (header_open_) --matrices_;
    header_open_ = false;
    table_.peer_access = true;
    if (!table_.rows.empty()) return;
    table_.columns.clear();
    table_.tail_columns.clear();
  }

  // "0-55,112-" and, on the next line, "167 0 N/A": a terminal cut the affinity.
  bool take_tail_rest(const Words& words) {
    open_tail_ = false;
    if (words[0].find_first_not_of("0123456789,-") != words[0].npos) return false;
    std::vector<std::string>& tail = table_.rows.back().tail;
    tail.back() += words[0];
    tail.insert(tail.end(), words.begin() + 1, words.end());
    return true;
  }

  // A header again: of the same devices it repeats (a pager) or goes on with the first matrix; of
  // others it starts another machine's, whose rows and legend are not for the first.
  void start_next_matrix(const Words& words, std::size_t start) {
    TopoTable next;
    read_header(words, start, next);
    // A header that a narrow terminal wrapped has no tail yet.
    const bool wrapped =
        next.tail_columns.empty() && next.columns.size() < table_.columns.size() &&
        std::equal(next.columns.begin(), next.columns.end(), table_.columns.begin());
    const bool same = wrapped || next.columns == table_.columns;
    if (table_.rows.empty() && !same) {  // a header alone is no matrix: the next one counts
      table_.columns = std::move(next.columns);
      table_.tail_columns = std::move(next.tail_columns);
      return;
    }
    // One row above any header may be prose.
    other_machine_ = !same && (!table_.columns.empty() || table_.rows.size() > 1);
    goes_on_ = !table_.rows.empty();
  }

  // "NIC0: mlx5_0"
  bool take_legend(const Words& words) {
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      if (!words[i].ends_with(':') || !words[i].starts_with("NIC")) continue;
      const std::string_view name = words[i].substr(0, words[i].size() - 1);
      if (!all_digits(name.substr(3))) continue;
      table_.legend.try_emplace(std::string(name), words[i + 1]);
      return true;
    }
    return false;
  }

  void take_row(const Words& words, std::size_t label) {
    const std::string name(words[label]);
    header_open_ = false;
    if (table_.rows.size() >= kMostDevices) return;
    open_row_ = seen_.insert(name).second;
    if (!open_row_) {
      // The same label again: another matrix (or its last copy); the first stays.
      return;
    }
    if (goes_on_) later_rows_ += " " + name;
    table_.rows.push_back({name, number_, {}, {}});
    take_cells(words, label + 1);
  }

  void take_cells(const Words& words, std::size_t from) {
    TopoRow& row = table_.rows.back();
    const std::size_t most = table_.columns.empty() ? kMostDevices : table_.columns.size();
    std::size_t i = from;
    for (; i < words.size() && row.cells.size() < most; ++i) {
      const bool foreign = is_foreign(words[i]) && !table_.columns.empty();
      if (!is_path_word(words[i]) && !foreign) break;
      if (foreign && table_.foreign.size() < 100)
        table_.foreign.push_back({number_, row.label, table_.columns[row.cells.size()],
                                  std::string(words[i].substr(0, 40))});
      row.cells.emplace_back(words[i]);
    }
    std::vector<std::string> tail = tail_of(words, i);
    row.tail.insert(row.tail.end(), tail.begin(), tail.end());
    if (row.cells.size() == most) open_row_ = false;
    open_tail_ =
        !row.tail.empty() && (row.tail.back().ends_with('-') || row.tail.back().ends_with(','));
  }

  // A wrapped header's second line: devices or tail columns only, before any row.
  void take_header_rest(const Words& words) {
    if (table_.columns.empty() || !table_.rows.empty() || header_lines_ > 4) return;
    const bool fits = std::all_of(words.begin(), words.end(), [](std::string_view word) {
      return is_device_word(word) || starts_tail(word) || word == "ID";
    });
    if (!fits) return;
    ++header_lines_;
    read_header(words, 0, table_);
  }

  // Rows without a header: the columns are the rows' own labels, as far as they go.
  void columns_from_rows() {
    std::size_t most = 0;
    for (const TopoRow& row : table_.rows) most = std::max(most, row.cells.size());
    for (const TopoRow& row : table_.rows)
      if (table_.columns.size() < most) table_.columns.push_back(row.label);
    while (table_.columns.size() < most)
      table_.columns.push_back(fmt::format("column{}", table_.columns.size()));
    ++matrices_;
    table_.notes.push_back("no header line; the columns are taken to be the rows, in their order");
  }

  TopoTable table_;
  std::set<std::string> seen_;
  std::size_t number_ = 0;
  std::string later_rows_;
  int matrices_ = 0;
  bool header_open_ = false;    // a header was counted, no row of it was seen yet
  bool other_machine_ = false;  // the lines belong to a later matrix of other devices
  bool goes_on_ = false;        // a header came again after rows
  int header_lines_ = 0;
  bool open_row_ = false;
  bool open_tail_ = false;
};

}  // namespace

bool is_gpu_label(std::string_view word) {
  return word.starts_with("GPU") && word.size() <= 8 && all_digits(word.substr(3));
}

bool is_peer_access_row(const std::vector<std::string_view>& words) {
  std::size_t states = 0;
  if (words.size() < 3 || !is_gpu_label(words[0])) return false;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const bool state = word == "OK" || word == "CNS" || word == "GNS" || word == "TNS" ||
                       word == "NS" || word == "DR" || word == "U";
    if (!state && word != "X") return false;
    states += state ? 1 : 0;
  }
  return states > 0;
}

bool is_path_word(std::string_view word) {
  for (const std::string_view known :
       {"X", "SYS", "SOC", "NODE", "PHB", "PXB", "PIX", "PSB", "N/A", "C2C"})
    if (word == known) return true;
  // A Blackwell GPU has 18 NVLinks; more than 64 is no count of links.
  if (!word.starts_with("NV") || word.size() > 4 || !all_digits(word.substr(2))) return false;
  return word.size() < 4 || word[2] < '6' || (word[2] == '6' && word[3] <= '4');
}

TopoTable read_topo_table(std::string_view text) { return TableReader().read(text); }

}  // namespace amsp
