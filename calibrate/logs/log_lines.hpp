// SPDX-License-Identifier: Apache-2.0
// The lines of a log, and what launchers, terminals and chat tools put around them.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace amsp {

// One line, or one segment of a line that a carriage return splits (progress bars).
struct LogLine {
  std::size_t number = 0;  // from 1
  std::string_view raw;
  bool terminated = true;  // false: the file ends inside this line
};

class LineReader {
 public:
  explicit LineReader(std::string_view content) : rest_(content) {}
  bool next(LogLine& line);

 private:
  std::string_view rest_;
  std::size_t number_ = 1;
};

// The text of a line without colours, launcher prefixes ("[1,0]<stdout>:" wherever it stands, "0:
// ",
// "[0] ", time stamps, "host-a: "), quote and list marks, Markdown bars and surrounding blanks.
// Lines longer than 4096 characters are cut. `cleaned` is overwritten (kept between calls so that
// no memory is allocated per line); it has the columns of the raw line where nothing was removed.
void clean_line(std::string_view raw, std::string& cleaned);

// False for lines that surely hold none of the words that readers look for (most lines of noise).
bool may_hold_facts(std::string_view cleaned);

// "data" + "host-a:12:34 [0] NCCL INFO …": NCCL prints into the middle of table rows.
struct NoiseSplit {
  std::string_view data;
  std::string_view noise;
};
NoiseSplit split_nccl_noise(std::string_view cleaned);

// Words of a line, at most 64 (no table is wider; the rest is dropped).
struct Words {
  std::array<std::string_view, 64> word;
  std::size_t size = 0;
  [[nodiscard]] std::string_view operator[](std::size_t i) const { return word[i]; }
};
Words split_words(std::string_view text);

// A number as printed, with half a unit of its last digit: 12.30 → 12.30 ± 0.005.
struct PrintedNumber {
  double value = 0;
  double half_unit = 0;
};
std::optional<PrintedNumber> parse_printed_number(std::string_view word);
std::optional<std::int64_t> parse_whole_number(std::string_view word);  // digits only

std::string_view trim(std::string_view text);
bool contains(std::string_view text, std::string_view part);
bool equal_ignoring_case(std::string_view a, std::string_view b);
std::string to_lower(std::string_view text);
// The word that follows `mark` in the text ("" when `mark` is absent).
std::string_view word_after(std::string_view text, std::string_view mark);
// For messages: cut to 120 bytes, control and non-ASCII bytes replaced.
std::string printable(std::string_view text);

}  // namespace amsp
