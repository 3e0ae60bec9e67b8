// SPDX-License-Identifier: Apache-2.0
#include "report/table.hpp"

#include <rapidcheck/catch.h>

#include <catch2/catch.hpp>

#include "report/csv.hpp"

using namespace amsp;

namespace {

Table example() {
  Table table({{"strategy", "", Align::left}, {"step time", "s"}, {"TGS", "tokens/s"}});
  table.add_row({"amsp", "8.21", "3990"});
  table.add_row({"zéro, \"3\"", "", "41"});
  return table;
}

// Reads one CSV text back, by RFC 4180's rules.
std::vector<std::vector<std::string>> read_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> row;
  std::string field;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      field += text[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == ',' || c == '\n')) {
      row.push_back(std::exchange(field, ""));
      if (c == '\n') rows.push_back(std::exchange(row, {}));
    } else {
      field += c;
    }
  }
  return rows;
}

}  // namespace

TEST_CASE("a table is aligned by what is seen, not by bytes") {
  CHECK(table_text(example(), false) ==
        "strategy   step time [s]  TGS [tokens/s]\n"
        "amsp                8.21            3990\n"
        "zéro, \"3\"              –              41\n");
}

TEST_CASE("only the header is coloured, and only on demand") {
  const std::string text = table_text(example(), true);
  CHECK(text.rfind("\x1b[1mstrategy", 0) == 0);
  CHECK(text.find("\x1b[0m\n") != std::string::npos);
  // Tests do not write to a terminal.
  CHECK(table_text(example()) == table_text(example(), false));
}

TEST_CASE("CSV carries units in its header and quotes only what needs it") {
  CHECK(csv_text(example()) ==
        "strategy,step_time_s,TGS_tokens_s\n"
        "amsp,8.21,3990\n"
        "\"zéro, \"\"3\"\"\",,41\n");
}

TEST_CASE("any fields come back from CSV") {
  rc::prop("read(csv_line(fields)) == fields", [](const std::vector<std::string>& fields) {
    RC_PRE(!fields.empty());
    RC_ASSERT(read_csv(csv_line(fields)) == std::vector<std::vector<std::string>>{fields});
  });
}
